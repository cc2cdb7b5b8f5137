// SPDX-License-Identifier: BSD-2-Clause
package tamis.bench;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import tamis.Filter;
import tamis.FilterSpec;
import tamis.Store;

/**
 * Nanoseconds for each key, of URLs that are in a filter of a million keys at 1 %, beside Guava's
 * BloomFilter of that size in Java's own memory. One call adds or asks for KEYS URLs, one by one or
 * in batches of BATCH. All of them are in, so each round does the same; README.md says how it is
 * run.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(Urls.KEYS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Urls {
  static final int KEYS = 100_000;
  private static final int BATCH = 1000;
  private static final int CAPACITY = 1_000_000;
  private static final double RATE = 0.01;

  private Path folder;
  private Store store;
  private Filter seen;
  private BloomFilter<byte[]> guavaBytes;
  private BloomFilter<CharSequence> guavaStrings;
  private String[] strings;
  private byte[][] bytes;
  private List<List<String>> batches;
  private ByteBuffer[] buffers;
  private int[][] ends;

  /** For JMH. */
  public Urls() {}

  /** Makes the keys and adds them. */
  @Setup
  public void open() throws IOException {
    folder =
        Files.createTempDirectory(Path.of(System.getProperty("bench.dir", "/dev/shm")), "tamis");
    store = Store.open(folder.resolve("store"));
    seen = store.create("seen", FilterSpec.of(CAPACITY, RATE));
    guavaBytes = BloomFilter.create(Funnels.byteArrayFunnel(), CAPACITY, RATE);
    guavaStrings = BloomFilter.create(Funnels.stringFunnel(StandardCharsets.UTF_8), CAPACITY, RATE);
    strings = new String[KEYS];
    bytes = new byte[KEYS][];
    for (int i = 0; i < KEYS; i++) {
      strings[i] = "https://www.example.com/articles/2026/11/page-" + i + ".html?from=list";
      bytes[i] = strings[i].getBytes(StandardCharsets.UTF_8);
      guavaBytes.put(bytes[i]);
      guavaStrings.put(strings[i]);
    }
    seen.addAll(strings);
    batches = new java.util.ArrayList<>();
    buffers = new ByteBuffer[KEYS / BATCH];
    ends = new int[buffers.length][BATCH];
    for (int i = 0; i < buffers.length; i++) {
      batches.add(List.of(Arrays.copyOfRange(strings, i * BATCH, (i + 1) * BATCH)));
      buffers[i] = ByteBuffer.allocateDirect(BATCH * 100);
      for (int j = 0; j < BATCH; j++) {
        ends[i][j] = buffers[i].put(bytes[i * BATCH + j]).position();
      }
      buffers[i].flip();
    }
  }

  /** Removes the store. */
  @TearDown
  public void close() throws IOException {
    seen.close();
    store.close();
    try (var all = Files.walk(folder)) {
      all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
    }
  }

  /** Adds Strings one by one. */
  @Benchmark
  public int tamisAddString() {
    int news = 0;
    for (String key : strings) {
      news += seen.add(key) ? 1 : 0;
    }
    return news;
  }

  /** Adds byte arrays one by one. */
  @Benchmark
  public int tamisAddBytes() {
    int news = 0;
    for (byte[] key : bytes) {
      news += seen.add(key) ? 1 : 0;
    }
    return news;
  }

  /** Asks for byte arrays one by one. */
  @Benchmark
  public int tamisContainsBytes() {
    int hits = 0;
    for (byte[] key : bytes) {
      hits += seen.contains(key) ? 1 : 0;
    }
    return hits;
  }

  /** Adds lists of Strings. */
  @Benchmark
  public int tamisAddStringBatch() {
    int keys = 0;
    for (List<String> batch : batches) {
      keys += seen.addAll(batch).length;
    }
    return keys;
  }

  /** Adds direct buffers. */
  @Benchmark
  public int tamisAddBufferBatch() {
    int keys = 0;
    for (int i = 0; i < buffers.length; i++) {
      keys += seen.addAll(buffers[i], ends[i]).length;
    }
    return keys;
  }

  /** Guava adds Strings by their UTF-8. */
  @Benchmark
  public int guavaPutString() {
    int news = 0;
    for (String key : strings) {
      news += guavaStrings.put(key) ? 1 : 0;
    }
    return news;
  }

  /** Guava adds byte arrays. */
  @Benchmark
  public int guavaPutBytes() {
    int news = 0;
    for (byte[] key : bytes) {
      news += guavaBytes.put(key) ? 1 : 0;
    }
    return news;
  }

  /** Guava asks for byte arrays. */
  @Benchmark
  public int guavaContainsBytes() {
    int hits = 0;
    for (byte[] key : bytes) {
      hits += guavaBytes.mightContain(key) ? 1 : 0;
    }
    return hits;
  }
}
