// SPDX-License-Identifier: BSD-2-Clause
package tamis.suite;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tamis.Build;
import tamis.Explanation;
import tamis.Field;
import tamis.Filter;
import tamis.Sizing;
import tamis.Stat;
import tamis.Store;

/** What a runner answers. */
final class Values {
  private Values() {}

  static Map<String, Object> object(Object... namesAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }

  static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  static List<Object> list(boolean[] answers) {
    List<Object> list = new ArrayList<>();
    for (boolean answer : answers) {
      list.add(answer ? 1 : 0);
    }
    return list;
  }

  static List<Object> list(long[] numbers) {
    List<Object> list = new ArrayList<>();
    for (long number : numbers) {
      list.add(number);
    }
    return list;
  }

  static List<Object> list(double[] numbers) {
    List<Object> list = new ArrayList<>();
    for (double number : numbers) {
      list.add(number);
    }
    return list;
  }

  /** A number of 64 bits without a sign, as text where it is large. */
  static Object unsigned(long number) {
    return number < 0 ? Long.toUnsignedString(number) : number;
  }

  static Object shown(Object value) {
    if (value instanceof Long number) {
      return unsigned(number);
    }
    return value instanceof Boolean yes ? (yes ? 1 : 0) : value;
  }

  static Map<String, Object> stat(Stat stat) {
    Map<String, Object> map = new LinkedHashMap<>();
    stat.asMap().forEach((name, value) -> map.put(name, shown(value)));
    if (Long.valueOf(-1).equals(stat.asMap().get("room"))) {
      map.put("room", null);
    }
    return map;
  }

  static List<Object> stats(List<Stat> stats) {
    List<Object> list = new ArrayList<>();
    stats.forEach(each -> list.add(stat(each)));
    return list;
  }

  static Object field(Field field) {
    return object(
        "name", field.name(),
        "info_name", field.infoName(),
        "reply_name", field.replyName(),
        "unit", field.unit(),
        "sentence", field.sentence(),
        "lacking", field.lacking(),
        "of", field.of(),
        "number", field.number(),
        "type", field.type().ordinal(),
        "sum", field.sum());
  }

  static Object explanation(Explanation it) {
    List<Object> positions = new ArrayList<>();
    for (long position : it.positions()) {
      positions.add(unsigned(position));
    }
    return object("hashes", it.hashes(), "positions", positions);
  }

  static Object sizing(Sizing it) {
    return object(
        "kind", it.kind().word(),
        "k", it.k(),
        "capacity", it.capacity(),
        "m_bits", it.bits(),
        "fp_rate", it.fpRate(),
        "predicted_rate", it.predictedRate(),
        "bits_per_key", it.bitsPerKey(),
        "data_bytes", it.dataBytes(),
        "file_bytes", it.fileBytes(),
        "words", it.words(),
        "counter_bits", it.counterBits(),
        "fingerprint_bits", it.fingerprintBits(),
        "pieces", it.pieces());
  }

  static Object mapped(Filter.Mapped it) {
    return object(
        "bytes", it.bytes(),
        "present", it.present(),
        "huge_bytes", it.hugeBytes(),
        "wanted", it.wanted().name().toLowerCase(Locale.ROOT),
        "obstacle", it.obstacle());
  }

  static Object comparison(Filter.Comparison it) {
    return object(
        "items_a", it.itemsA(),
        "items_b", it.itemsB(),
        "items_union", it.itemsUnion(),
        "items_both", it.itemsBoth(),
        "jaccard", it.jaccard(),
        "error", it.error());
  }

  static Object published(Store.Published it) {
    return object(
        "published", it.published() ? 1 : 0,
        "generation", it.generation(),
        "exceptions", it.exceptions(),
        "size_bytes", it.sizeBytes());
  }

  static Object result(Build.Result it) {
    return object(
        "published", it.published() ? 1 : 0,
        "keys", it.keys(),
        "distinct", it.distinct(),
        "generation", it.generation(),
        "exceptions", it.exceptions(),
        "found", it.found(),
        "conflicts", it.conflicts(),
        "sampled", it.sampled(),
        "sampled_yes", it.sampledYes(),
        "size_bytes", it.sizeBytes(),
        "key_digest", hex(it.keyDigest()));
  }

  static Object generation(Store.Generation it) {
    return object(
        "generation", it.generation(),
        "in_force", it.inForce() ? 1 : 0,
        "kind", it.kind().word(),
        "segment_count", it.segments(),
        "items", it.items(),
        "size_bytes", it.sizeBytes(),
        "fp_rate", it.fpRate(),
        "exceptions", it.exceptions(),
        "published_at", it.publishedAt(),
        "key_digest", hex(it.keyDigest()));
  }
}
