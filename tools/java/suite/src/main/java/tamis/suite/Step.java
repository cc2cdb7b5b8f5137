// SPDX-License-Identifier: BSD-2-Clause
package tamis.suite;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import tamis.BuildSpec;
import tamis.FilterSpec;
import tamis.ImportSpec;
import tamis.Kind;
import tamis.OnFull;
import tamis.Pages;
import tamis.PublishSpec;

/** What a step gives. */
final class Step {
  private final Map<?, ?> with;
  private final Map<String, Object> handles;
  private final Object on;

  Step(Map<?, ?> step, Map<String, Object> handles) {
    this.with = step.get("with") instanceof Map<?, ?> map ? map : Map.of();
    this.handles = handles;
    this.on = handles.get(step.get("on"));
  }

  private Step(Map<?, ?> with) {
    this.with = with;
    this.handles = Map.of();
    this.on = null;
  }

  <T> T on(Class<T> handle) {
    return handle.cast(on);
  }

  <T> T handle(String name, Class<T> handle) {
    return handle.cast(handles.get(text(name)));
  }

  <T> List<T> handles(String name, Class<T> handle) {
    List<T> list = new ArrayList<>();
    list(name).forEach(each -> list.add(handle.cast(handles.get((String) each))));
    return list;
  }

  boolean has(String name) {
    return with.get(name) != null;
  }

  String text(String name) {
    return (String) with.get(name);
  }

  long number(String name) {
    return with.get(name) instanceof Number number ? number.longValue() : 0;
  }

  int integer(String name) {
    return Math.toIntExact(number(name));
  }

  double real(String name) {
    return with.get(name) instanceof Number number ? number.doubleValue() : 0;
  }

  List<?> list(String name) {
    return with.get(name) instanceof List<?> list ? list : List.of();
  }

  List<String> texts(String name) {
    return list(name).stream().map(String.class::cast).toList();
  }

  Step object(String name) {
    return with.get(name) instanceof Map<?, ?> map ? new Step(map) : null;
  }

  List<Step> objects(String name) {
    return list(name).stream().map(each -> new Step((Map<?, ?>) each)).toList();
  }

  /** The flags that somebody has asked for since this step began. */
  private static final Set<Object> ASKED = new HashSet<>();

  static void forgetFlags() {
    ASKED.clear();
  }

  /** A flag that nobody has asked for, so that it was passed over; null if there is none. */
  static Object unaskedFlag(Object with) {
    if (with instanceof List<?> list) {
      return list.stream()
          .map(Step::unaskedFlag)
          .filter(word -> word != null)
          .findFirst()
          .orElse(null);
    }
    if (with instanceof Map<?, ?> map) {
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        Object word =
            entry.getKey().equals("flags")
                ? ((List<?>) entry.getValue())
                    .stream().filter(each -> !ASKED.contains(each)).findFirst().orElse(null)
                : unaskedFlag(entry.getValue());
        if (word != null) {
          return word;
        }
      }
    }
    return null;
  }

  boolean flag(String word) {
    ASKED.add(word);
    return list("flags").contains(word);
  }

  int flags(Map<String, Integer> words) {
    ASKED.addAll(words.keySet());
    int flags = 0;
    for (Object word : list("flags")) {
      flags |= words.get(word);
    }
    return flags;
  }

  private static Object keyOf(Object value) {
    return value instanceof Map<?, ?> map
        ? HexFormat.of().parseHex((String) map.get("hex"))
        : value;
  }

  /** A String, or a byte[]. */
  Object key(String name) {
    return keyOf(with.get(name));
  }

  byte[] bytes(String name) {
    Object key = key(name);
    return key instanceof String text
        ? text.getBytes(java.nio.charset.StandardCharsets.UTF_8)
        : (byte[]) key;
  }

  List<Object> keys(String name) {
    List<Object> keys = new ArrayList<>();
    list(name).forEach(each -> keys.add(keyOf(each)));
    return keys;
  }

  InputStream file() throws IOException {
    return Files.newInputStream(Path.of(text("file")));
  }

  static <E extends Enum<E>> E word(Class<E> of, String word) {
    return Enum.valueOf(of, word == null ? "DEFAULT" : word.toUpperCase(Locale.ROOT));
  }

  static Kind kind(String word) {
    return word == null ? Kind.DEFAULT : Kind.of(word);
  }

  /** The spec of this name; null if there is none. */
  FilterSpec spec(String name) {
    Step given = object(name);
    if (given == null) {
      return null;
    }
    FilterSpec spec =
        FilterSpec.of(given.number("capacity"), given.real("fp_rate"))
            .kind(kind(given.text("kind")))
            .k(given.integer("k"))
            .bits(given.number("m_bits"))
            .hashSet(given.text("hash_set"))
            .keyRule(given.text("key_rule"))
            .seed(given.number("seed"))
            .onFull(word(OnFull.class, given.text("on_full")))
            .slices(given.integer("slices"))
            .window(Duration.ofNanos(given.number("window_ns")))
            .windowItems(given.number("window_items"))
            .counterBits(given.integer("counter_bits"))
            .flags(
                given.flags(
                    Map.of(
                        "DURABLE", FilterSpec.DURABLE,
                        "OWNED", FilterSpec.OWNED,
                        "FROM_FIRST", FilterSpec.FROM_FIRST)));
    if (given.has("secret")) {
      spec.secret(HexFormat.of().parseHex(given.text("secret")));
    }
    if (given.has("pages")) {
      spec.pages(word(Pages.class, given.text("pages")));
    }
    return spec;
  }

  ImportSpec imported(String name) {
    Step given = object(name);
    return given == null
        ? null
        : new ImportSpec()
            .hashSet(given.text("hash_set"))
            .bits(given.number("m_bits"))
            .k(given.integer("k"))
            .capacity(given.number("capacity"))
            .fpRate(given.real("fp_rate"))
            .seal(given.number("seal_capacity"), given.real("seal_rate"))
            .createdAt(given.number("created_at"))
            .origin(given.text("origin"))
            .flags(
                given.flags(
                    Map.of(
                        "HEAD", ImportSpec.HEAD,
                        "AS_THERE", ImportSpec.AS_THERE,
                        "OWNED", ImportSpec.OWNED,
                        "DURABLE", ImportSpec.DURABLE)));
  }

  PublishSpec published(String name) {
    PublishSpec spec = new PublishSpec();
    Step given = object(name);
    if (given != null) {
      spec.stream(given.imported("import")).except(given.keys("except"));
      if (given.flag("IF_CHANGED")) {
        spec.ifChanged();
      }
      if (given.flag("NEWER")) {
        spec.newer();
      }
      if (given.flag("KEEP")) {
        spec.keep(given.integer("keep"));
      }
    }
    return spec;
  }

  BuildSpec built(String name) {
    BuildSpec spec = new BuildSpec();
    Step given = object(name);
    if (given != null) {
      spec.filter(given.spec("filter"))
          .memoryBytes(given.number("memory_bytes"))
          .threads(given.integer("threads"));
      if (given.flag("IF_CHANGED")) {
        spec.ifChanged();
      }
      if (given.flag("KEEP")) {
        spec.keep(given.integer("keep"));
      }
    }
    return spec;
  }
}
