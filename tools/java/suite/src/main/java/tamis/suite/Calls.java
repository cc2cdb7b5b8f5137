// SPDX-License-Identifier: BSD-2-Clause
package tamis.suite;

import static tamis.suite.Values.list;
import static tamis.suite.Values.object;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import tamis.Build;
import tamis.ErrorCode;
import tamis.Field;
import tamis.Filter;
import tamis.Kind;
import tamis.OnFull;
import tamis.Pages;
import tamis.Sizing;
import tamis.Stat;
import tamis.Store;
import tamis.StoreOptions;
import tamis.Tamis;
import tamis.Watch;

/** The functions of tamis.h, by calls of the package. A value that is a handle gets its name. */
final class Calls {
  private Calls() {}

  interface Call {
    Object call(Step step) throws Exception;
  }

  /** Nothing that is worth an answer. */
  interface Act {
    void act(Step step) throws Exception;
  }

  static final Map<String, Call> ALL = new TreeMap<>();

  private static void has(String function, Call call) {
    ALL.put(function, call);
  }

  private static void does(String function, Act act) {
    ALL.put(
        function,
        step -> {
          act.act(step);
          return null;
        });
  }

  private static Store store(Step step) {
    return step.on(Store.class);
  }

  private static Filter filter(Step step) {
    return step.on(Filter.class);
  }

  static {
    stores();
    making();
    filters();
    keys();
    inside();
    streams();
    builds();
    library();
  }

  private static StoreOptions options(Step step) {
    StoreOptions options = new StoreOptions();
    if (step.flag("CREATE")) {
      options.create();
    }
    if (step.flag("READ_ONLY")) {
      options.readOnly();
    }
    if (step.flag("FORCE_NETWORK_FS")) {
      options.forceNetworkFs();
    }
    if (step.number("busy_timeout_ms") != 0) {
      options.busyTimeout(Duration.ofMillis(Math.max(0, step.number("busy_timeout_ms"))));
    }
    return options.mode(step.integer("mode"));
  }

  private static void stores() {
    has("tamis_store_open", step -> Store.open(step.text("path"), options(step)));
    has("tamis_store_open_with", step -> Store.open(step.text("path"), options(step)));
    does("tamis_store_close", step -> store(step).close());
    does(
        "tamis_store_set_busy_timeout",
        step -> store(step).setBusyTimeout(Duration.ofMillis(step.number("milliseconds"))));
    does(
        "tamis_store_set_busy_callback",
        step -> {
          AtomicLong told = new AtomicLong();
          long most = step.number("give_up_after");
          store(step).setBusyListener((waited, holder) -> told.incrementAndGet() < most);
        });
    does("tamis_descriptors_set_least", step -> Tamis.setLeastDescriptor(step.integer("number")));
    has("tamis_store_list", step -> Values.stats(store(step).list(step.text("prefix"))));
    has("tamis_store_list_live", step -> Values.stats(store(step).listLive(step.text("prefix"))));
    has("tamis_watch_new", step -> store(step).watch(step.text("prefix")));
    has("tamis_watch_look", step -> Values.stats(step.on(Watch.class).look()));
    does("tamis_watch_free", step -> step.on(Watch.class).close());
    Call verify =
        step ->
            store(step).verify(step.text("name"), (phase, done, all) -> {}).stream()
                .filter(problem -> problem.error() != null)
                .count();
    has("tamis_store_verify", verify);
    has("tamis_store_verify_with", verify);
    Call repair =
        step -> {
          int flags =
              step.flags(
                  Map.of(
                      "DRY_RUN",
                      Store.DRY_RUN,
                      "REBUILD",
                      Store.REBUILD,
                      "FORCE_NETWORK_FS",
                      0x8000000));
          return Store.repair(Path.of(step.text("path")), flags, (phase, done, all) -> {}).stream()
              .filter(each -> each.error() == null)
              .count();
        };
    has("tamis_store_repair", repair);
    has("tamis_store_repair_with", repair);
    has("tamis_store_backup", step -> store(step).backup(Path.of(step.text("path")), null));
  }

  private static int openFlags(Step step) {
    return step.flags(
        Map.of("READ_ONLY", Store.READ_ONLY, "NO_SYNC", Store.NO_SYNC, "POPULATE", Store.POPULATE));
  }

  private static void making() {
    does(
        "tamis_filter_check",
        step ->
            Tamis.check(
                step.has("path") ? Path.of(step.text("path")) : null,
                step.text("name"),
                step.spec("spec")));
    has("tamis_filter_create", step -> store(step).create(step.text("name"), step.spec("spec")));
    has(
        "tamis_filter_open_or_create",
        step -> store(step).openOrCreate(step.text("name"), step.spec("spec")));
    has(
        "tamis_filter_create_many",
        step ->
            store(step)
                .createMany(step.texts("names"), step.spec("spec"), step.flag("IF_MISSING")));
    has("tamis_filter_open", step -> store(step).filter(step.text("name"), openFlags(step)));
    has(
        "tamis_filter_open_at",
        step ->
            Filter.openAt(
                Path.of(step.text("path")),
                new StoreOptions(),
                step.text("name"),
                openFlags(step)));
    has("tamis_filter_exists", step -> store(step).exists(step.text("name")));
    does("tamis_filter_drop", step -> store(step).drop(step.text("name")));
    has(
        "tamis_filter_drop_many",
        step -> {
          long[] times =
              step.has("created_at_of")
                  ? step.handles("created_at_of", Filter.class).stream()
                      .mapToLong(Filter::createdAt)
                      .toArray()
                  : null;
          return store(step).dropMany(step.texts("names"), times);
        });
    does(
        "tamis_filter_rename",
        step -> store(step).rename(step.text("old_name"), step.text("new_name")));
    does(
        "tamis_filter_set_owned",
        step -> store(step).setOwned(step.text("name"), step.number("owned") != 0));
    does(
        "tamis_filter_set_pages",
        step ->
            store(step).setPages(step.text("name"), Step.word(Pages.class, step.text("pages"))));
    has(
        "tamis_filter_create_merged",
        step ->
            store(step)
                .merged(
                    step.text("name"),
                    step.handles("sources", Filter.class),
                    step.flag("INTERSECT") ? Store.INTERSECT : 0,
                    null));
  }

  private static void filters() {
    has("tamis_filter_store", step -> filter(step).store());
    has("tamis_filter_created_at", step -> String.valueOf(filter(step).createdAt()));
    does("tamis_filter_close", step -> filter(step).close());
    does("tamis_filter_release", step -> filter(step).release());
    has("tamis_filter_may_wait", step -> filter(step).mayWait(step.number("keys")));
    does("tamis_filter_prepare", step -> filter(step).prepare(step.number("keys")));
    has("tamis_filter_mapped", step -> Values.mapped(filter(step).mapped()));
    does("tamis_filter_rotate", step -> filter(step).rotate());
    does("tamis_filter_sync", step -> filter(step).sync());
    does(
        "tamis_filter_set_sync_interval",
        step -> filter(step).setSyncInterval(Duration.ofNanos(step.number("interval_ns"))));
    does("tamis_filter_accept", step -> filter(step).accept());
    does(
        "tamis_filter_merge",
        step ->
            filter(step)
                .merge(
                    step.handles("sources", Filter.class),
                    step.flag("INTERSECT") ? Store.INTERSECT : 0,
                    null));
    has("tamis_filter_like", step -> filter(step).like().asMap());
    has(
        "tamis_filter_compare",
        step -> Values.comparison(filter(step).compare(step.handle("other", Filter.class))));
  }

  private static void keys() {
    has(
        "tamis_filter_add",
        step ->
            step.key("key") instanceof String text
                ? filter(step).add(text)
                : filter(step).add(step.bytes("key")));
    has(
        "tamis_filter_contains",
        step ->
            step.key("key") instanceof String text
                ? filter(step).contains(text)
                : filter(step).contains(step.bytes("key")));
    has(
        "tamis_filter_remove",
        step ->
            step.key("key") instanceof String text
                ? filter(step).remove(text)
                : filter(step).remove(step.bytes("key")));
    has(
        "tamis_filter_count",
        step ->
            step.key("key") instanceof String text
                ? filter(step).count(text)
                : filter(step).count(step.bytes("key")));
    has(
        "tamis_filter_contains_name",
        step ->
            step.key("key") instanceof String text
                ? filter(step).containsName(text)
                : text(filter(step).containsName(step.bytes("key"))));
    does("tamis_filter_prefetch", step -> filter(step).prefetch(step.bytes("key")));
    has("tamis_filter_add_batch", step -> list(filter(step).addAll(step.keys("keys"))));
    has("tamis_filter_contains_batch", step -> list(filter(step).containsAll(step.keys("keys"))));
    has("tamis_filter_remove_batch", step -> list(filter(step).removeAll(step.keys("keys"))));
    has("tamis_filter_count_batch", step -> list(filter(step).countAll(step.keys("keys"))));
    has("tamis_shard", step -> Tamis.shard(step.bytes("key"), step.integer("shards")));
  }

  private static String text(byte[] found) {
    return found == null ? null : new String(found, StandardCharsets.UTF_8);
  }

  private static Field field(int of, Step step) {
    List<Field> fields = Field.all(of, step.integer("shown_by"));
    return step.integer("index") < fields.size() ? fields.get(step.integer("index")) : null;
  }

  private static void inside() {
    has("tamis_filter_stat", step -> Values.stat(filter(step).stat()));
    has("tamis_filter_items", step -> filter(step).items());
    has("tamis_filter_segment", step -> Values.stat(filter(step).segment(step.integer("index"))));
    has("tamis_segment_file", step -> Tamis.segmentFile(step.number("number")));
    has("tamis_filter_fill", step -> Values.stat(filter(step).fill(step.integer("index"))));
    has(
        "tamis_filter_explain",
        step -> Values.explanation(filter(step).explain(step.integer("index"), step.bytes("key"))));
    has(
        "tamis_explain",
        step ->
            Values.explanation(
                Tamis.explain(
                    step.text("hash_set"),
                    step.number("m_bits"),
                    step.integer("k"),
                    step.number("seed"),
                    step.bytes("key"))));
    has(
        "tamis_filter_fill_map",
        step -> list(filter(step).fillMap(step.integer("index"), step.integer("count"))));
    has(
        "tamis_field",
        step -> {
          Field field = field(step.integer("of"), step);
          return field == null ? null : Values.field(field);
        });
    has(
        "tamis_field_get",
        step -> {
          Field field = field(Field.FILTER, step);
          Stat stat = filter(step).stat();
          return field == null ? null : Values.shown(stat.asMap().get(field.name()));
        });
    has(
        "tamis_size",
        step -> {
          Step it = step.object("sizing");
          return Values.sizing(
              Sizing.known(
                      Step.kind(it.text("kind")),
                      it.number("capacity"),
                      it.real("fp_rate"),
                      it.number("m_bits"),
                      it.integer("k"),
                      it.integer("counter_bits"))
                  .complete());
        });
    has(
        "tamis_predict_rate",
        step -> {
          double rate =
              Sizing.predictRate(
                  Step.kind(step.text("kind")),
                  step.number("m_bits"),
                  step.integer("k"),
                  step.number("n"));
          return Double.isNaN(rate) ? null : rate;
        });
  }

  private static void streams() {
    has(
        "tamis_filter_import",
        step -> {
          try (InputStream in = step.file()) {
            return store(step)
                .importFrom(step.text("name"), step.text("format"), step.imported("spec"), in);
          }
        });
    has(
        "tamis_filter_publish",
        step -> {
          try (InputStream in = step.file()) {
            return Values.published(
                store(step)
                    .publish(step.text("name"), step.text("format"), step.published("spec"), in));
          }
        });
    does(
        "tamis_filter_export",
        step -> {
          int flags =
              step.flags(
                  Map.of(
                      "WITH_KEY", Filter.WITH_KEY,
                      "WITHOUT_EXCEPTIONS", Filter.WITHOUT_EXCEPTIONS,
                      "WITH_DIGEST", Filter.WITH_DIGEST));
          try (OutputStream out = Files.newOutputStream(Path.of(step.text("file")))) {
            filter(step).export(step.text("format"), flags, out);
          }
        });
    has(
        "tamis_filter_read_data",
        step ->
            Values.hex(
                filter(step)
                    .readData(
                        step.integer("index"), step.number("offset"), step.integer("bytes"))));
    does(
        "tamis_filter_write_data",
        step ->
            filter(step)
                .writeData(step.integer("index"), step.number("offset"), step.bytes("data")));
    has(
        "tamis_filter_set_bit",
        step -> filter(step).setBit(step.integer("index"), step.number("position")));
  }

  private static void builds() {
    has("tamis_build_begin", step -> store(step).build(step.text("name"), step.built("spec")));
    does("tamis_build_add", step -> step.on(Build.class).addAll(step.keys("keys")));
    does("tamis_build_against", step -> step.on(Build.class).against(step.keys("keys")));
    does("tamis_build_except", step -> step.on(Build.class).except(step.keys("keys")));
    has("tamis_build_publish", step -> Values.result(step.on(Build.class).publish()));
    does("tamis_build_close", step -> step.on(Build.class).close());
    has(
        "tamis_filter_generations",
        step ->
            store(step).generations(step.text("name")).stream().map(Values::generation).toList());
    does(
        "tamis_filter_rollback",
        step -> store(step).rollback(step.text("name"), step.number("generation")));
    has("tamis_filter_except", step -> store(step).except(step.text("name"), step.keys("keys")));
    has(
        "tamis_filter_unexcept",
        step -> list(store(step).unexcept(step.text("name"), step.keys("keys"))));
    has(
        "tamis_filter_exceptions",
        step -> {
          List<String> keys = new ArrayList<>();
          store(step).exceptions(step.text("name"), (key, generation) -> keys.add(Values.hex(key)));
          return keys;
        });
    has(
        "tamis_filter_each_exception",
        step -> {
          List<String> keys = new ArrayList<>();
          filter(step).exceptions((key, generation) -> keys.add(Values.hex(key)));
          return keys;
        });
  }

  private static <E extends Enum<E>> E numbered(E[] all, Step step, String name) {
    long number = step.number(name);
    return number >= 0 && number < all.length ? all[(int) number] : null;
  }

  private static void library() {
    has("tamis_version", step -> Tamis.version());
    has("tamis_simd", step -> Tamis.simd());
    has("tamis_error_name", step -> Tamis.errorName(step.integer("error")));
    has("tamis_error_message", step -> Tamis.errorMessage(step.integer("error")));
    has(
        "tamis_kind_name",
        step -> {
          Kind kind = numbered(Kind.values(), step, "kind");
          return kind == null ? null : kind.word();
        });
    has(
        "tamis_kind_has",
        step -> {
          Kind kind = numbered(Kind.values(), step, "kind");
          long wanted = step.number("property");
          for (Kind.Property property : Kind.Property.values()) {
            if ((wanted & 1L << property.ordinal()) != 0 && (kind == null || !kind.has(property))) {
              return 0;
            }
          }
          return kind == null || wanted >> Kind.Property.values().length != 0 ? 0 : 1;
        });
    has(
        "tamis_kind_next",
        step -> {
          Kind kind = numbered(Kind.values(), step, "kind");
          return (kind == null ? Kind.DEFAULT : kind.next()).ordinal();
        });
    has("tamis_kind_from_name", step -> Kind.of(step.text("name")).ordinal());
    has(
        "tamis_on_full_name",
        step -> {
          OnFull it = numbered(OnFull.values(), step, "on_full");
          return it == null ? null : it.word();
        });
    has(
        "tamis_pages_name",
        step -> {
          Pages it = numbered(Pages.values(), step, "pages");
          return it == null ? null : it.word();
        });
    has("tamis_hash_set_weakness", step -> Tamis.weakness(step.text("hash_set")));
    has(
        "tamis_hash_set_next",
        step -> {
          List<String> all = Tamis.hashSets();
          int at = step.has("hash_set") ? all.indexOf(step.text("hash_set")) + 1 : 0;
          return at < all.size() ? all.get(at) : null;
        });
    has(
        "tamis_format_name",
        step -> {
          List<String> all = Tamis.formats();
          return step.integer("index") < all.size() ? all.get(step.integer("index")) : null;
        });
    has("tamis_last_error", step -> Tamis.lastError());
    does("tamis_sigbus_leave", step -> Tamis.leaveSigbus());
  }

  /** What an error is called. */
  static Object error(ErrorCode code, String message, byte[] answers) {
    Map<String, Object> answer = object("error", "TAMIS_E" + code, "message", message);
    if (answers != null) {
      List<Object> list = new ArrayList<>();
      for (byte each : answers) {
        list.add(each);
      }
      answer.put("answers", list);
    }
    return answer;
  }
}
