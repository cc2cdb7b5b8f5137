// SPDX-License-Identifier: BSD-2-Clause
package tamis.stormcrawler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.digitalpebble.stormcrawler.Metadata;
import com.digitalpebble.stormcrawler.filtering.URLFilters;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tamis.Filter;
import tamis.FilterSpec;
import tamis.Store;

class SeenUrlFilterTest {
  private static final int PAGES = 120;

  @TempDir Path folder;

  /** StormCrawler makes the filters that urlfilters.json names; every bolt has its own. */
  @Test
  void eachUrlPassesOnceOverAllBolts() throws Exception {
    Map<String, Object> conf = new HashMap<>();
    conf.put("tamis.store", folder.resolve("store").toString());
    conf.put("urlfilters.config.file", "seen-urlfilters.json");
    URLFilters one = URLFilters.fromConf(conf);
    URLFilters other = URLFilters.fromConf(conf);
    URL source = new URL("http://crawl.example/");
    assertEquals(
        "http://crawl.example/a", one.filter(source, Metadata.empty, "http://crawl.example/a#top"));
    assertNull(other.filter(source, Metadata.empty, "http://crawl.example/a"));
    assertEquals(
        "http://crawl.example/b", other.filter(source, Metadata.empty, "http://CRAWL.example/b"));
    assertNull(one.filter(source, Metadata.empty, "http://crawl.example/b"));
    // Others on the same store take part, whatever language they are in.
    try (Store store = Store.open(folder.resolve("store"));
        Filter seen = store.openOrCreate("seen", FilterSpec.of(100_000, 1e-9))) {
      assertTrue(seen.add("http://crawl.example/c"));
    }
    assertNull(one.filter(source, Metadata.empty, "http://crawl.example/c"));
  }

  private static String page(int number) {
    StringBuilder text = new StringBuilder("<html><head><title>Page</title></head><body>");
    for (int i = 1; i <= 12; i++) {
      int to = (number * 7 + i * i) % PAGES;
      text.append("<a href=\"/page/").append(to).append("#").append(i).append("\">to</a> ");
    }
    return text.append("<a href=\"/page/")
        .append((number + 1) % PAGES)
        .append("\">next</a></body></html>")
        .toString();
  }

  private static Process crawl(String seed, Path store) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Crawl.class.getName(), seed, store.toString()));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(store.resolveSibling("log-" + seed.hashCode()).toFile())
        .start();
  }

  /**
   * Two clusters crawl one site on one store, and each page is fetched once. Seen to fail without
   * SeenUrlFilter in the list: both fetched the same pages.
   */
  @Test
  void twoCrawlsFetchEachPageOnce() throws Exception {
    Map<String, Integer> fetched = new ConcurrentHashMap<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.createContext(
        "/page/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          fetched.merge(path, 1, Integer::sum);
          byte[] body = page(Integer.parseInt(path.substring(6))).getBytes(UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "text/html; charset=utf-8");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    List<Process> crawls = new ArrayList<>();
    Path store = folder.resolve("store");
    try {
      String site = "http://localhost:" + server.getAddress().getPort();
      List<String> seeds = List.of(site + "/page/0", site + "/page/60");
      // Who brings the seeds adds them, as `tamis add` does.
      try (Store opened = Store.open(store);
          Filter seen = opened.openOrCreate("seen", FilterSpec.of(100_000, 1e-9))) {
        assertEquals(seeds, seen.newOf(seeds));
      }
      for (String seed : seeds) {
        crawls.add(crawl(seed, store));
      }
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(150);
      while (fetched.size() < PAGES && System.nanoTime() < end) {
        Thread.sleep(100);
      }
      Thread.sleep(1000); // what would come twice comes now
      assertEquals(PAGES, fetched.size(), () -> log(store));
      fetched.forEach((path, times) -> assertEquals(1, times, path));
    } finally {
      crawls.forEach(Process::destroyForcibly);
      for (Process crawl : crawls) {
        crawl.waitFor();
      }
      server.stop(0);
    }
  }

  private static String log(Path store) {
    StringBuilder all = new StringBuilder();
    for (java.io.File file :
        store.getParent().toFile().listFiles((in, name) -> name.startsWith("log-"))) {
      try {
        List<String> lines = java.nio.file.Files.readAllLines(file.toPath());
        lines
            .subList(Math.max(0, lines.size() - 60), lines.size())
            .forEach(line -> all.append(line).append('\n'));
      } catch (java.io.IOException e) {
        all.append(e).append('\n');
      }
    }
    return all.toString();
  }
}
