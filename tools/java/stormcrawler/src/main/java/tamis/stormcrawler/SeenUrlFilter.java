// SPDX-License-Identifier: BSD-2-Clause
package tamis.stormcrawler;

import com.digitalpebble.stormcrawler.Metadata;
import com.digitalpebble.stormcrawler.filtering.URLFilter;
import com.digitalpebble.stormcrawler.util.ConfUtils;
import com.fasterxml.jackson.databind.JsonNode;
import java.net.URL;
import java.time.Duration;
import java.util.Map;
import tamis.Filter;
import tamis.FilterSpec;
import tamis.Store;

/**
 * Passes each URL once: of all workers, bolts and other programs that use the filter, the first
 * that comes with a URL gets it through, and nobody else does. It belongs at the end of the list of
 * urlfilters.json, behind those that normalize a URL or refuse it:
 *
 * <pre>
 *   {
 *     "class": "tamis.stormcrawler.SeenUrlFilter",
 *     "name": "seen",
 *     "params": {"store": "/var/lib/crawl", "filter": "seen", "capacity": 10000000, "fpRate": 1e-6}
 *   }
 * </pre>
 *
 * <p>"store" may stand in the configuration of the topology instead, as tamis.store. "syncSeconds"
 * (60) says how often what was added is brought to the disk; a killed worker loses nothing in any
 * case.
 */
public class SeenUrlFilter implements URLFilter {
  private static final String NAME = "seen";
  private static final long CAPACITY = 1_000_000;
  private static final double RATE = 1e-6;
  private static final int SYNC_SECONDS = 60;

  private Filter seen;

  /** StormCrawler makes it, and calls configure(). */
  public SeenUrlFilter() {}

  @Override
  public void configure(Map<String, Object> conf, JsonNode params) {
    String path = params.path("store").asText(ConfUtils.getString(conf, "tamis.store"));
    if (path == null) {
      throw new IllegalArgumentException(
          "SeenUrlFilter has no store: give \"store\" in its params, or tamis.store in the configuration");
    }
    FilterSpec spec =
        FilterSpec.of(
            params.path("capacity").asLong(CAPACITY), params.path("fpRate").asDouble(RATE));
    try (Store store = Store.open(path)) {
      seen = store.openOrCreate(params.path("filter").asText(NAME), spec);
    }
    int seconds = params.path("syncSeconds").asInt(SYNC_SECONDS);
    seen.setSyncInterval(Duration.ofSeconds(seconds));
  }

  /** Returns the URL if nobody came with it before, else null: it is dropped. */
  @Override
  public String filter(URL sourceUrl, Metadata sourceMetadata, String url) {
    return seen.add(url) ? url : null;
  }
}
