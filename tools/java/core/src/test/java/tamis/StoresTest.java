// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoresTest extends Fixture {
  @Test
  void filtersAreMadeOpenedRenamedAndDropped() {
    try (Store store = store()) {
      failsWith(ErrorCode.NOTFOUND, () -> store.filter("seen"));
      try (Filter seen = store.openOrCreate("Straße 東京", small())) {
        assertSame(store, seen.store());
        assertTrue(seen.add("a"));
        failsWith(ErrorCode.EXIST, () -> store.create("Straße 東京", small()));
        failsWith(ErrorCode.MISMATCH, () -> store.openOrCreate("Straße 東京", FilterSpec.of(5, 0.1)));
        store.rename("Straße 東京", "seen");
        assertFalse(seen.add("a"));
        assertEquals(List.of("seen"), store.names());
        assertEquals("seen", seen.stat().name());
        assertEquals(seen.createdAt(), seen.stat().number("created_at"));
        store.setPages("seen", Pages.SMALL);
        store.setOwned("seen", true);
        assertEquals(FilterSpec.OWNED, store.list("se").get(0).number("flags"));
        assertTrue(store.exists("seen"));
        store.drop("seen");
        assertFalse(store.exists("seen"));
        failsWith(ErrorCode.DROPPED, () -> seen.add("b"));
      }
      assertEquals(3, store.createMany(List.of("a", "b", "c"), small(), false));
      assertEquals(1, store.createMany(List.of("a", "d"), small(), true));
      assertEquals(List.of("a", "b", "c", "d"), store.names());
      assertEquals(2, store.dropMany(List.of("a", "b", "never"), null));
      assertEquals(0, store.dropMany(List.of("c"), new long[] {1}));
      assertThrows(IllegalArgumentException.class, () -> store.dropMany(List.of("c"), new long[0]));
      assertThrows(IllegalArgumentException.class, () -> store.filter("a\0b"));
    }
  }

  @Test
  void storesAreOpenedInManyWays() {
    Path path = folder.resolve("store");
    failsWith(ErrorCode.NOSTORE, () -> Store.open(path, new StoreOptions()));
    failsWith(ErrorCode.INVAL, () -> Store.open(Path.of("redis://host")));
    failsWith(ErrorCode.INVAL, () -> Store.open("redis://host"));
    Store.open(path, new StoreOptions().create().mode(0640)).close();
    failsWith(ErrorCode.MISMATCH, () -> Store.open(path, new StoreOptions().mode(0600)));
    try (Store store = Store.open(path)) {
      store.create("seen", small()).close();
    }
    try (Store reader = Store.open(path, new StoreOptions().readOnly());
        Filter seen = reader.filter("seen")) {
      failsWith(ErrorCode.READONLY, () -> seen.add("a"));
      assertFalse(seen.contains("a"));
      failsWith(ErrorCode.READONLY, () -> reader.drop("seen"));
    }
    Filter alone = Filter.openAt(path, new StoreOptions(), "seen", Store.NO_SYNC);
    Store its = alone.store();
    assertTrue(its.exists("seen"));
    alone.close();
    assertThrows(ClosedException.class, () -> its.exists("seen"));
    Tamis.check(path, "other", small());
    failsWith(ErrorCode.INVAL, () -> Tamis.check(null, "", small()));
    failsWith(ErrorCode.INVAL, () -> Tamis.check(null, "x", FilterSpec.of(1, 2)));
  }

  @Test
  void everyCodeOfTheLibraryIsInTheEnum() {
    for (ErrorCode code : ErrorCode.values()) {
      if (code != ErrorCode.UNKNOWN) {
        assertEquals("TAMIS_E" + code, Tamis.errorName(code.number()));
        assertFalse(Tamis.errorMessage(code.number()).isEmpty());
      }
    }
    assertEquals("TAMIS_?", Tamis.errorName(-ErrorCode.values().length));
    Kind kind = Kind.DEFAULT;
    for (int kinds = 1; (kind = kind.next()) != Kind.DEFAULT; kinds++) {
      assertSame(kind, Kind.of(kind.word()));
      assertTrue(kinds < Kind.values().length);
    }
    assertTrue(Kind.COUNTING.has(Kind.Property.COUNTS));
    failsWith(ErrorCode.INVAL, () -> Kind.of("other"));
    assertEquals("refuse", OnFull.REFUSE.word());
    assertNull(OnFull.DEFAULT.word());
    assertEquals("huge", Pages.HUGE.word());
  }

  @Test
  void theLibraryTellsOfItself() {
    assertTrue(Tamis.version().startsWith("0."));
    assertTrue(List.of("avx512", "avx2", "portable").contains(Tamis.simd()));
    assertTrue(Tamis.hashSets().contains("guava"));
    assertTrue(Tamis.formats().contains("tamis"));
    assertNull(Tamis.weakness("xxh3"));
    assertNotNull(Tamis.weakness("php:js"));
    assertEquals("segments/0000000000000017.seg", Tamis.segmentFile(17));
    Tamis.setLeastDescriptor(0);
    Sizing sizing = Sizing.known(Kind.BLOOM, 1000, 0.01, 0, 0, 0).complete();
    assertEquals(7, sizing.k());
    assertEquals(0.01, Sizing.predictRate(Kind.BLOOM, sizing.bits(), 7, 1000), 0.001);
    assertTrue(Double.isNaN(Sizing.predictRate(Kind.BLOOM, 0, 7, 1000)));
    failsWith(ErrorCode.INVAL, () -> Sizing.known(Kind.BLOOM, 0, 0, 0, 0, 0).complete());
    Explanation where = Tamis.explain("guava", 1000, 3, 0, new byte[] {1});
    assertEquals(3, where.positions().length);
    assertEquals(5000, Tamis.explain("md5", 1 << 20, 5000, 0, new byte[] {1}).positions().length);
    assertTrue(Field.all(Field.FILTER, 3).stream().anyMatch(f -> f.name().equals("items")));
  }

  @Test
  void everythingIsSeenInside() {
    try (Store store = store();
        Filter seen = store.create("seen", small());
        Watch watch = store.watch(null)) {
      watch.look();
      seen.addAll(List.of("a", "b", "c"));
      assertEquals(3, watch.look().get(0).number("new_keys"));
      assertEquals(3, store.listLive("").get(0).items());
      Stat stat = seen.stat();
      assertEquals(Kind.BLOCKED, stat.kind());
      assertEquals(10_000, stat.capacity());
      assertEquals(1e-9, stat.fpRate());
      assertEquals(0, stat.state());
      assertThrows(IllegalArgumentException.class, () -> stat.number("nothing"));
      assertTrue(seen.fill(0).number("ones") > 0);
      assertEquals(0, seen.segment(0).number("ones"));
      failsWith(ErrorCode.INVAL, () -> seen.segment(1));
      assertEquals(16, seen.fillMap(0, 16).length);
      assertTrue(seen.explain(0, new byte[] {1}).positions().length > 0);
      assertTrue(seen.mapped().bytes() > 0);
      seen.sync();
      assertTrue(seen.stat().number("checkpointed_at") > 0);
      seen.setSyncInterval(Duration.ofSeconds(1));
      seen.setSyncInterval(Duration.ZERO);
      seen.accept();
      seen.prepare(10);
      assertTrue(seen.mayWait(1) >= 0);
      failsWith(ErrorCode.UNSUPPORTED, () -> seen.rotate());
      assertEquals(List.of(), store.verify(null, (phase, done, all) -> {}));
      assertEquals(1, store.backup(folder.resolve("copy"), null));
      assertEquals(List.of(), Store.repair(folder.resolve("copy"), 0, null));
    }
  }

  @Test
  void filtersAreMergedAndCompared() {
    try (Store store = store()) {
      Filter a = store.create("a", small());
      Filter b = store.create("b", a.like());
      a.addAll(List.of("x", "y"));
      b.addAll(List.of("y", "z"));
      assertEquals(1, a.compare(b).itemsBoth(), 0.5);
      try (Filter both = store.merged("both", List.of(a, b), Store.INTERSECT, null)) {
        assertArrayEquals(
            new boolean[] {false, true, false}, both.containsAll(List.of("x", "y", "z")));
      }
      a.merge(List.of(b), 0, (phase, done, all) -> {});
      assertTrue(a.contains("z"));
      RuntimeException mine = new RuntimeException("mine");
      assertSame(
          mine,
          assertThrows(
              RuntimeException.class,
              () ->
                  a.merge(
                      List.of(b),
                      0,
                      (phase, done, all) -> {
                        throw mine;
                      })));
      Filter other = store.create("other", FilterSpec.of(5, 0.1));
      failsWith(ErrorCode.MISMATCH, () -> a.compare(other));
    }
  }

  @Test
  void filtersAreStreams() throws IOException {
    try (Store store = store()) {
      Filter seen = store.create("seen", small());
      seen.addAll(List.of("a", "b"));
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      assertEquals(seen.export("tamis", 0, out), out.size());
      ByteArrayOutputStream part = new ByteArrayOutputStream();
      assertEquals(out.size(), seen.exportPart("tamis", 0, part, 10, 20));
      assertEquals(20, part.size());
      Filter copy =
          store.importFrom(
              "copy",
              "tamis",
              new ImportSpec().origin("here"),
              new ByteArrayInputStream(out.toByteArray()));
      assertTrue(copy.contains("a"));
      assertEquals("here", copy.stat().text("imported_from"));
      PublishSpec spec = new PublishSpec().ifChanged().keep(2).except(List.of("a"));
      Store.Published first =
          store.publish("list", "tamis", spec, new ByteArrayInputStream(out.toByteArray()));
      assertTrue(first.published());
      assertFalse(store.filter("list").contains("a"));
      assertTrue(store.filter("list").contains("b"));
      IOException mine = new IOException("mine");
      InputStream broken =
          new InputStream() {
            @Override
            public int read() throws IOException {
              throw mine;
            }
          };
      assertSame(
          mine,
          assertThrows(IOException.class, () -> store.importFrom("never", "tamis", null, broken)));
      assertFalse(store.exists("never"));
      assertThrows(
          TamisException.class,
          () -> store.importFrom("never", "tamis", null, new ByteArrayInputStream(new byte[100])));
      byte[] data = seen.readData(0, 0, 64);
      assertEquals(64, data.length);
      seen.writeData(0, 0, data);
      failsWith(ErrorCode.UNSUPPORTED, () -> seen.setBit(0, 1));
      Filter bloom = store.create("bloom", small().kind(Kind.BLOOM));
      assertFalse(bloom.setBit(0, 1));
      assertTrue(bloom.setBit(0, 1));
    }
  }

  @Test
  void listsAreBuiltAnewAndRolledBack() {
    try (Store store = store()) {
      for (List<String> keys : List.of(List.of("a", "b"), List.of("c", "c"))) {
        List<Integer> phases = new ArrayList<>();
        BuildSpec spec =
            BuildSpec.of(0.001)
                .threads(1)
                .keep(3)
                .progress((phase, done, all) -> phases.add(phase));
        try (Build build = store.build("list", spec)) {
          build.addAll(keys);
          build.against(List.of("good"));
          build.except(List.of("b"));
          Build.Result result = build.publish();
          assertTrue(result.published());
          assertEquals(2, result.keys());
          assertEquals(16, result.keyDigest().length);
          assertTrue(phases.contains(4));
        }
      }
      Filter list = store.filter("list");
      assertArrayEquals(
          new boolean[] {false, false, true}, list.containsAll(List.of("a", "b", "c")));
      assertEquals(2, store.generations("list").size());
      store.rollback("list", 0);
      assertArrayEquals(
          new boolean[] {true, false, false}, list.containsAll(List.of("a", "b", "c")));
      assertEquals(1, store.except("list", List.of("a", "b")));
      List<String> told = new ArrayList<>();
      store.exceptions("list", (key, generation) -> told.add(new String(key)));
      list.exceptions((key, generation) -> told.add(new String(key)) && false);
      assertEquals(List.of("a", "b", "a"), told);
      assertArrayEquals(new boolean[] {true, false}, store.unexcept("list", List.of("a", "never")));
      assertTrue(list.contains("a"));
      failsWith(ErrorCode.NOTFOUND, () -> store.generations("never"));
      failsWith(ErrorCode.UNSUPPORTED, () -> list.add("x"));
    }
  }
}
