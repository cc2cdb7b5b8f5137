// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.List;

/**
 * Memory outside of Java's heap for the keys of a call, where C reads them at their address: so the
 * call needs neither a copy in C nor a critical section, which would stop the collector while the
 * call waits. Each thread has one.
 */
final class Arena {
  private static final int SMALL = 64 * 1024;
  private static final int KEPT = 4 * 1024 * 1024; // what a thread keeps between its calls
  private static final ThreadLocal<Arena> OF_THREAD = ThreadLocal.withInitial(Arena::new);

  private ByteBuffer data = direct(SMALL);
  private ByteBuffer rest =
      direct(SMALL); // ends of the keys, 4 bytes each, then a byte for each answer
  private long dataAddress = Native.address(data);
  private long restAddress = Native.address(rest);
  private boolean isTaken;
  private int count;

  private static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /**
   * Returns the thread's arena, empty. A call within a call, by a function that the library calls,
   * gets another one.
   */
  static Arena take() {
    Arena arena = OF_THREAD.get();
    if (arena.isTaken) {
      arena = new Arena();
    }
    arena.isTaken = true;
    arena.data.clear();
    arena.count = 0;
    return arena;
  }

  void give() {
    if (data.capacity() > KEPT || rest.capacity() > KEPT) {
      OF_THREAD.remove();
    }
    isTaken = false;
  }

  long address() {
    return dataAddress;
  }

  long ends() {
    return restAddress;
  }

  /** The address of a byte for each answer. */
  long answers() {
    return restAddress + 4L * count;
  }

  int count() {
    return count;
  }

  int bytes() {
    return data.position();
  }

  private void room(long more) {
    if (data.remaining() >= more) {
      return;
    }
    ByteBuffer larger = direct(grown(data, more));
    data = larger.put(data.flip());
    dataAddress = Native.address(data);
  }

  private static int grown(ByteBuffer buffer, long more) {
    long least = buffer.position() + more;
    if (least > Integer.MAX_VALUE - 8) {
      throw new IllegalArgumentException("the keys of a call have more than 2 GiB");
    }
    return (int) Math.min(Integer.MAX_VALUE - 8, Math.max(least, 2L * buffer.capacity()));
  }

  Arena put(byte[] key) {
    room(key.length);
    data.put(key);
    return this;
  }

  Arena put(String key) {
    return put(Text.utf8(key));
  }

  Arena put(ByteBuffer key) {
    room(key.remaining());
    data.put(key.duplicate());
    return this;
  }

  Arena putKey(Object key) {
    if (key instanceof String text) {
      put(text);
    } else if (key instanceof byte[] bytes) {
      put(bytes);
    } else if (key instanceof ByteBuffer buffer) {
      put(buffer);
    } else {
      throw new IllegalArgumentException(
          "a key is a String, a byte[] or a ByteBuffer, not "
              + (key == null ? "null" : "a " + key.getClass().getName()));
    }
    return this;
  }

  /** Makes room for so many ends and as many answers, of 8 bytes if they are counts. */
  private void expect(int keys, int answerBytes) {
    long bytes = (4L + answerBytes) * keys + 8;
    if (rest.capacity() < bytes) {
      rest.clear();
      rest = direct(grown(rest, bytes));
      restAddress = Native.address(rest);
    }
  }

  private void end(int at) {
    rest.putInt(4 * count++, at);
  }

  Arena putAll(Iterable<?> keys, int answerBytes) {
    if (!(keys instanceof Collection<?>)) {
      List<Object> list = new java.util.ArrayList<>();
      keys.forEach(list::add);
      return putAll(list, answerBytes);
    }
    // What another thread adds meanwhile is no part of the batch.
    return putAll(((Collection<?>) keys).toArray(), answerBytes);
  }

  Arena putAll(Object[] keys, int answerBytes) {
    expect(keys.length, answerBytes);
    for (Object key : keys) {
      putKey(key);
      end(data.position());
    }
    return this;
  }

  /** Only ends: the keys are elsewhere, in `bytes` bytes. */
  Arena putEnds(int[] ends, int bytes, int answerBytes) {
    expect(ends.length, answerBytes);
    int last = 0;
    for (int at : ends) {
      if (at < last || at > bytes) {
        throw new IllegalArgumentException(
            "ends of keys go up and stay in the buffer: "
                + at
                + " after "
                + last
                + ", of "
                + bytes);
      }
      end(last = at);
    }
    return this;
  }

  byte[] copyAnswers() {
    byte[] copy = new byte[count];
    rest.get(4 * count, copy);
    return copy;
  }

  boolean[] copyBooleans() {
    boolean[] copy = new boolean[count];
    for (int i = 0; i < copy.length; i++) {
      copy[i] = rest.get(4 * count + i) == 1;
    }
    return copy;
  }

  /** Numbers of 8 bytes stand behind the ends, where an address that 8 divides begins. */
  long countsAt() {
    return restAddress + (4L * count + 7) / 8 * 8;
  }

  long[] copyCounts() {
    long[] copy = new long[count];
    for (int i = 0; i < copy.length; i++) {
      copy[i] = rest.getLong((4 * count + 7) / 8 * 8 + 8 * i);
    }
    return copy;
  }
}
