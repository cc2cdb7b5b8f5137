// SPDX-License-Identifier: BSD-2-Clause
package crawl;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jsoup.Jsoup;
import tamis.Store;

/** A crawler of ../README.md, by java.net.http and jsoup: Crawl STORE QUEUE NAME SITE. */
public final class Crawl {
  private static final int WORKERS = 4; // each has a file of the queue in its hands
  private static final long OVER_MS = 1000;

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();
  private final Work work;
  private final String name;

  private Crawl(Work work, String name) {
    this.work = work;
    this.name = name;
  }

  private CompletableFuture<List<String>> fetch(String url) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url)).header("User-Agent", name).build();
    return client
        .sendAsync(request, HttpResponse.BodyHandlers.ofString())
        .thenApply(response -> links(url, response));
  }

  private static List<String> links(String url, HttpResponse<String> response) {
    Stream<String> moved =
        response.headers().firstValue("Location").stream()
            .map(to -> URI.create(url).resolve(to).toString());
    Stream<String> linked =
        response.statusCode() >= 400
            ? Stream.of()
            : Jsoup.parse(response.body(), url).select("a[href]").stream()
                .map(link -> link.absUrl("href"));
    return Stream.concat(moved, linked).toList();
  }

  /** Fetches the pages of a file side by side, and returns their links. */
  private List<String> fetchAll(List<String> urls) {
    List<CompletableFuture<List<String>>> pages = urls.stream().map(this::fetch).toList();
    List<String> links = new ArrayList<>();
    pages.forEach(page -> links.addAll(page.join()));
    return links;
  }

  private Void run() throws IOException, InterruptedException {
    long empty = 0;
    for (; ; ) {
      Work.Claimed claimed = work.claim();
      if (claimed != null) {
        work.put(fetchAll(claimed.urls()));
        work.finish(claimed);
        continue;
      }
      long now = System.nanoTime() / 1_000_000;
      if (!work.isEmpty()) {
        empty = 0;
      } else if (empty == 0) {
        empty = now;
      } else if (now - empty > OVER_MS) {
        return null;
      }
      Thread.sleep(50);
    }
  }

  /** The program. */
  public static void main(String[] args) throws IOException, InterruptedException {
    try (Store store = Store.open(Path.of(args[0]))) {
      Crawl crawl = new Crawl(new Work(store, Path.of(args[1]), args[2]), args[2]);
      crawl.fetch(args[3] + "/ready").join();
      ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
      List<Future<Void>> all = new ArrayList<>();
      for (int i = 0; i < WORKERS; i++) {
        all.add(workers.submit(crawl::run));
      }
      for (Future<Void> one : all) {
        one.get();
      }
      workers.shutdown();
    } catch (ExecutionException e) {
      e.printStackTrace();
      System.exit(1); // with the workers that are left
    }
  }
}
