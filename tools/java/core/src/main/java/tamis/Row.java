// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A row of values, by which structs travel between Java and C: numbers and reals of 8 bytes, and
 * bytes behind a length of 4 bytes (-1: null). jni/row.c is the other side. To C, a text has a NUL
 * behind it, which its length does not count.
 */
final class Row {
  private ByteBuffer bytes;

  /** A row to be filled. */
  Row() {
    bytes = ByteBuffer.allocate(256).order(ByteOrder.nativeOrder());
  }

  /** A row to be read. */
  Row(byte[] row) {
    bytes = ByteBuffer.wrap(row).order(ByteOrder.nativeOrder());
  }

  private ByteBuffer room(int more) {
    if (bytes.remaining() < more) {
      int to = Math.max(2 * bytes.capacity(), bytes.position() + more);
      ByteBuffer larger = ByteBuffer.allocate(to).order(ByteOrder.nativeOrder());
      bytes = larger.put(bytes.flip());
    }
    return bytes;
  }

  Row put(long number) {
    room(8).putLong(number);
    return this;
  }

  Row put(double real) {
    return put(Double.doubleToRawLongBits(real));
  }

  Row put(String text) {
    return putBytes(Text.terminated(text), 1);
  }

  Row put(byte[] data) {
    return putBytes(data, 0);
  }

  private Row putBytes(byte[] data, int behind) {
    if (data == null) {
      room(4).putInt(-1);
    } else {
      room(4 + data.length).putInt(data.length - behind).put(data);
    }
    return this;
  }

  byte[] toBytes() {
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  long number() {
    return bytes.getLong();
  }

  int integer() {
    return (int) number();
  }

  double real() {
    return bytes.getDouble();
  }

  byte[] bytes() {
    int length = bytes.getInt();
    if (length < 0) {
      return null;
    }
    byte[] data = new byte[length];
    bytes.get(data);
    return data;
  }

  String text() {
    return Text.of(bytes());
  }
}
