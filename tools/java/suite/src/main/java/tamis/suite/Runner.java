// SPDX-License-Identifier: BSD-2-Clause
package tamis.suite;

import static java.nio.charset.StandardCharsets.UTF_8;
import static tamis.suite.Values.object;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tamis.ClosedException;
import tamis.Filter;
import tamis.Store;
import tamis.StoreOptions;
import tamis.TamisException;

/** The runner of Java: tests/bindings/README.md says what a runner is. */
public final class Runner {
  private static final long[] STRIDES = {
    7368787, 15485863, 32452843, 49979687, 67867967, 86028121, 104395301
  };
  private static final int CHUNK = 4096;

  private final Map<String, Object> handles = new HashMap<>();

  private Runner() {}

  private static void close(Object handle) {
    if (handle instanceof AutoCloseable open) {
      try {
        open.close();
      } catch (Exception e) {
        // of a filter whose file the case has cut
      }
    }
  }

  private Object called(Map<?, ?> step) {
    Calls.Call call = Calls.ALL.get(step.get("call"));
    if (call == null) {
      return object("lacks", step.get("call"));
    }
    try {
      Step.forgetFlags();
      Object value = call.call(new Step(step, handles));
      Object word = Step.unaskedFlag(step.get("with"));
      if (word != null) {
        return object("lacks", step.get("call") + "(" + word + ")");
      }
      if (step.get("as") instanceof String name) {
        close(handles.put(name, value));
      }
      return object("value", value instanceof AutoCloseable ? null : value);
    } catch (TamisException e) {
      return Calls.error(e.code(), e.getMessage(), e.answers());
    } catch (ClosedException e) {
      return object("error", "CLOSED", "message", e.getMessage());
    } catch (Exception e) {
      return object("error", "INVALID", "message", e.toString());
    }
  }

  private Object answer(Map<?, ?> step) {
    if (step.get("case") == null) {
      return called(step);
    }
    handles.values().forEach(Runner::close);
    handles.clear();
    return object("value", null);
  }

  private static void race(String[] words, BufferedReader in) throws IOException {
    long first = Long.parseLong(words[3]);
    long count = Long.parseLong(words[4]);
    long seed = Long.parseLong(words[5]);
    int batch = Integer.parseInt(words[6]);
    Filter seen = Store.open(words[1], new StoreOptions()).filter(words[2]);
    System.out.println("ready");
    in.readLine();
    try (OutputStream out =
        Files.newOutputStream(
            Path.of(words[7]), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      List<String> keys = new ArrayList<>();
      for (long i = 0; i < count; i++) {
        long at = seed * 104729 + i * STRIDES[(int) (seed % STRIDES.length)];
        keys.add("key-" + (first + at % count));
        if (keys.size() == batch || i == count - 1) {
          StringBuilder told = new StringBuilder();
          List<String> fresh =
              batch > 1 ? seen.newOf(keys) : seen.add(keys.get(0)) ? keys : List.of();
          fresh.forEach(key -> told.append(key, 4, key.length()).append('\n'));
          out.write(told.toString().getBytes(UTF_8));
          keys.clear();
        }
      }
    }
  }

  private static long found(String[] words) {
    long first = Long.parseLong(words[3]);
    long end = first + Long.parseLong(words[4]);
    Filter seen = Store.open(words[1], new StoreOptions()).filter(words[2]);
    long hits = 0;
    for (long begin = first; begin < end; begin += CHUNK) {
      List<String> keys = new ArrayList<>();
      for (long i = begin; i < Math.min(begin + CHUNK, end); i++) {
        keys.add("key-" + i);
      }
      for (boolean isIn : seen.containsAll(keys)) {
        hits += isIn ? 1 : 0;
      }
    }
    return hits;
  }

  /** Runs it. */
  public static void main(String[] words) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    String what = words.length == 0 ? "" : words[0];
    switch (what) {
      case "functions" -> System.out.println(Json.write(Calls.ALL.keySet()));
      case "race" -> race(words, in);
      case "found" -> System.out.println(found(words));
      default -> {
        PrintStream out = new PrintStream(System.out, true, UTF_8);
        Runner runner = new Runner();
        for (String line; (line = in.readLine()) != null; ) {
          out.println(Json.write(runner.answer((Map<?, ?>) Json.read(line))));
        }
      }
    }
  }
}
