// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KeysTest extends Fixture {
  @Test
  void aKeyIsNewOnceWhateverItsForm() {
    String text = "Straße 東京 🚀?";
    try (Store store = store();
        Filter seen = store.create("seen", small())) {
      assertTrue(seen.add(text));
      assertFalse(seen.add(text.getBytes(UTF_8)));
      ByteBuffer heap = ByteBuffer.wrap(("--" + text).getBytes(UTF_8)).position(2);
      assertFalse(seen.add(heap));
      assertEquals(2, heap.position());
      ByteBuffer direct = ByteBuffer.allocateDirect(100).put(heap.duplicate()).flip();
      assertFalse(seen.add(direct.asReadOnlyBuffer()));
      assertTrue(seen.contains(direct));
      assertEquals(1, seen.items());
    }
  }

  @Test
  void keysAreAnyBytes() {
    byte[] large = new byte[1 << 20];
    Arrays.fill(large, (byte) 'x');
    List<byte[]> keys =
        List.of(
            new byte[0],
            new byte[1],
            new byte[2],
            "a".getBytes(UTF_8),
            "a\0b".getBytes(UTF_8),
            large);
    try (Store store = store();
        Filter seen = store.create("seen", small())) {
      for (byte[] key : keys) {
        assertFalse(seen.contains(key));
        assertTrue(seen.add(key));
        assertFalse(seen.add(key));
        seen.prefetch(key);
      }
      assertFalse(seen.add("a\0b"));
      assertFalse(seen.add(""));
      assertFalse(seen.add("x".repeat(1 << 20)));
      boolean[] all = seen.containsAll(keys);
      assertEquals(keys.size(), IntStream.range(0, all.length).filter(i -> all[i]).count());
    }
  }

  /** It was seen to fail when Text.utf8() did not look: both keys were "?". */
  @Test
  void aStringWithoutUtf8IsRefused() {
    try (Store store = store();
        Filter seen = store.create("seen", small())) {
      for (String lone : List.of("\ud800", "a\ud800b", "\udc00\ud800", "ä\ud800", "🚀\udc00")) {
        assertThrows(IllegalArgumentException.class, () -> seen.add(lone));
        assertThrows(IllegalArgumentException.class, () -> seen.addAll(List.of("before", lone)));
      }
      assertEquals(0, seen.items());
      assertTrue(seen.add("?")); // a question mark is a key
      assertTrue(seen.add("ä?"));
    }
  }

  @Test
  void whatIsNoKeyIsRefusedBeforeAnythingIsAdded() {
    try (Store store = store();
        Filter seen = store.create("seen", small())) {
      assertThrows(IllegalArgumentException.class, () -> seen.add((String) null));
      assertThrows(IllegalArgumentException.class, () -> seen.addAll(Arrays.asList("a", null)));
      assertThrows(IllegalArgumentException.class, () -> seen.addAll(List.of("a", 5)));
      assertThrows(NullPointerException.class, () -> seen.addAll((Iterable<?>) null));
      assertEquals(0, seen.items());
      assertTrue(seen.add("a")); // the thread's arena is there again
    }
  }

  @Test
  void batchesOfAnyLengthAnswerForEachKey() {
    try (Store store = store();
        Filter seen = store.create("seen", FilterSpec.of(100_000, 1e-9))) {
      for (int count : new int[] {0, 1, 63, 64, 1023, 1024, 1025, 5000, 20_000}) {
        List<String> keys = IntStream.range(0, count).mapToObj(i -> count + "-" + i).toList();
        boolean[] expected = new boolean[count];
        assertArrayEquals(expected, seen.containsAll(keys));
        assertEquals(keys, seen.newOf(keys));
        assertArrayEquals(expected, seen.addAll(keys.toArray()));
        Arrays.fill(expected, true);
        assertArrayEquals(expected, seen.containsAll(keys.toArray()));
      }
      assertArrayEquals(
          new boolean[] {true, false, true},
          seen.addAll(new Object[] {"x", "x".getBytes(UTF_8), ByteBuffer.wrap(new byte[] {1})}));
      Iterable<String> once =
          () -> IntStream.range(0, 10_000).mapToObj(i -> "once " + i).iterator();
      assertEquals(10_000, seen.update(once));
      assertEquals(0, seen.update(once));
    }
  }

  @Test
  void keysInABufferAreTakenByTheirEnds() {
    byte[] bytes = "..aabbbc".getBytes(UTF_8);
    int[] ends = {2, 5, 5, 6};
    ByteBuffer direct = ByteBuffer.allocateDirect(100).put(50, bytes).position(52).limit(58);
    try (Store store = store();
        Filter seen = store.create("seen", small())) {
      assertArrayEquals(new boolean[] {true, true, true, true}, seen.addAll(direct, ends));
      assertEquals(52, direct.position());
      for (String key : List.of("aa", "bbb", "", "c")) {
        assertFalse(seen.add(key));
      }
      ByteBuffer heap = ByteBuffer.wrap(bytes, 2, 6);
      assertArrayEquals(new boolean[] {true, true, true, true}, seen.containsAll(heap, ends));
      assertArrayEquals(new boolean[0], seen.addAll(direct, new int[0]));
      for (int[] wrong : new int[][] {{7}, {3, 2}, {-1}, {Integer.MAX_VALUE}}) {
        assertThrows(IllegalArgumentException.class, () -> seen.addAll(direct, wrong));
      }
      assertEquals(4, seen.items());
    }
  }

  @Test
  void countersRemoveAndCount() {
    try (Store store = store();
        Filter counting = store.create("counting", small().kind(Kind.COUNTING))) {
      assertArrayEquals(new boolean[] {true, false, true}, counting.addAll(List.of("a", "a", "b")));
      assertEquals(2, counting.count("a"));
      assertArrayEquals(new long[] {2, 1, 0}, counting.countAll(List.of("a", "b", "c")));
      assertTrue(counting.remove("a"));
      assertArrayEquals(
          new boolean[] {true, false, true}, counting.removeAll(List.of("a", "a", "b")));
      Filter plain = store.create("plain", small());
      failsWith(ErrorCode.UNSUPPORTED, () -> plain.remove("a"));
      failsWith(ErrorCode.UNSUPPORTED, () -> plain.count("a"));
      failsWith(ErrorCode.UNSUPPORTED, () -> plain.countAll(List.of("a")));
    }
  }

  @Test
  void aBatchThatFailsHasItsAnswers() {
    try (Store store = store();
        Filter full = store.create("full", FilterSpec.of(100, 1e-9).onFull(OnFull.REFUSE))) {
      List<String> keys = IntStream.range(0, 300).mapToObj(i -> "key " + i).toList();
      TamisException e = failsWith(ErrorCode.FULL, () -> full.addAll(keys));
      byte[] answers = e.answers();
      assertEquals(300, answers.length);
      List<String> told = new ArrayList<>();
      for (int i = 0; i < answers.length; i++) {
        if (answers[i] == 1) {
          told.add(keys.get(i));
        } else {
          assertEquals(TamisException.REFUSED, answers[i]);
        }
      }
      assertEquals(full.items(), told.size());
      boolean[] in = full.containsAll(told);
      assertEquals(told.size(), IntStream.range(0, in.length).filter(i -> in[i]).count());
      failsWith(ErrorCode.FULL, () -> full.add("one more"));
    }
  }

  @Test
  void shardsAreThoseOfTheOtherBindings() {
    assertEquals(32, Tamis.shard("https://a.example/", 64)); // docs/python.md
    assertEquals(57, Tamis.shard("a".getBytes(UTF_8), 64));
    assertEquals(0, Tamis.shard("a", 1));
  }
}
