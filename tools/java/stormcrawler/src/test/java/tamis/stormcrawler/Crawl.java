// SPDX-License-Identifier: BSD-2-Clause
package tamis.stormcrawler;

import com.digitalpebble.stormcrawler.Constants;
import com.digitalpebble.stormcrawler.bolt.FetcherBolt;
import com.digitalpebble.stormcrawler.bolt.JSoupParserBolt;
import com.digitalpebble.stormcrawler.bolt.URLPartitionerBolt;
import com.digitalpebble.stormcrawler.persistence.MemoryStatusUpdater;
import com.digitalpebble.stormcrawler.spout.MemorySpout;
import java.io.InputStream;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.LocalCluster;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;
import org.yaml.snakeyaml.Yaml;

/** A crawl by StormCrawler's own bolts, in a Storm cluster within this process. */
final class Crawl {
  private Crawl() {}

  /**
   * Crawls from a URL on, with the URLs of others on the same store left out, until it is told to
   * end.
   */
  public static void main(String[] words) throws Exception {
    Config conf = new Config();
    try (InputStream defaults = Crawl.class.getResourceAsStream("/crawler-default.yaml")) {
      Map<String, Map<String, Object>> read = new Yaml().load(defaults);
      conf.putAll(read.get("config"));
    }
    conf.put("tamis.store", words[1]);
    conf.put("urlfilters.config.file", "seen-urlfilters.json");
    conf.put("parsefilters.config.file", "no-parsefilters.json");
    conf.put("http.agent.name", "tamis-test");
    conf.put("http.robots.file.skip", true);
    conf.put("fetcher.server.delay", 0.0);
    conf.put("fetcher.threads.per.queue", 2);
    conf.put("fetcher.threads.number", 4);
    conf.put("topology.max.spout.pending", 100);
    conf.setDebug(false);

    TopologyBuilder builder = new TopologyBuilder();
    builder.setSpout("spout", new MemorySpout(words[0]));
    builder.setBolt("partition", new URLPartitionerBolt()).shuffleGrouping("spout");
    builder.setBolt("fetch", new FetcherBolt()).fieldsGrouping("partition", new Fields("key"));
    builder.setBolt("parse", new JSoupParserBolt(), 2).localOrShuffleGrouping("fetch");
    builder
        .setBolt("status", new MemoryStatusUpdater())
        .localOrShuffleGrouping("fetch", Constants.StatusStreamName)
        .localOrShuffleGrouping("parse", Constants.StatusStreamName);
    LocalCluster cluster = new LocalCluster();
    cluster.submitTopology("crawl", conf, builder.createTopology());
    System.out.println("crawls");
    System.in.read();
    System.exit(0);
  }
}
