package dev.parley.tool.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The processes that live on this machine: from `/proc` where there is one, else what Java knows.
final class ProcessTable {

  /// What tells a process from all others, and where it belongs.
  ///
  /// `start` counts ticks since the machine's start, or milliseconds where there is no `/proc`. Then
  /// `session` is 0 too.
  record Entry(long pid, long parent, long session, long start) {}

  private static final Path PROC = Path.of("/proc");
  private static final boolean LINUX = Files.isReadable(PROC.resolve("self/stat"));
  private static final int ENVIRONMENT_MAX = 1 << 20;

  private ProcessTable() {}

  static boolean linux() {
    return LINUX;
  }

  /// This machine's present run; `-` where it cannot be told.
  static String boot() {
    try {
      return Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip();
    } catch (IOException unknown) {
      return "-";
    }
  }

  /// All processes but those that have ended and only wait to be forgotten.
  static Map<Long, Entry> now() {
    var all = new HashMap<Long, Entry>();
    if (!LINUX) {
      ProcessHandle.allProcesses().forEach(handle -> all.put(handle.pid(), entry(handle)));
      return all;
    }
    try (var folders = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (var folder : folders) {
        stat(folder).ifPresent(entry -> all.put(entry.pid(), entry));
      }
    } catch (IOException unreadable) {
      throw new IllegalStateException("/proc cannot be read", unreadable);
    }
    return all;
  }

  /// The children of `parent` that have ended and that nobody has collected. Linux only.
  static Set<Entry> ended(long parent) {
    var all = new HashSet<Entry>();
    try (var folders = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (var folder : folders) {
        stat(folder, true).filter(entry -> entry.parent() == parent).ifPresent(all::add);
      }
    } catch (IOException unreadable) {
      throw new IllegalStateException("/proc cannot be read", unreadable);
    }
    return all;
  }

  static Optional<Entry> find(long pid) {
    return LINUX
        ? stat(PROC.resolve(Long.toString(pid)))
        : ProcessHandle.of(pid).filter(ProcessHandle::isAlive).map(ProcessTable::entry);
  }

  /// True if it is still the same process that lives under this number.
  static boolean alive(Entry entry) {
    return find(entry.pid()).filter(now -> now.start() == entry.start()).isPresent();
  }

  /// What the process was started with: each setting, `NAME=value`, between two NULs. Empty if that cannot
  /// be told.
  static String environment(Entry entry) {
    if (!LINUX) {
      return "";
    }
    try (var input = Files.newInputStream(PROC.resolve(entry.pid() + "/environ"))) {
      return "\0" + new String(input.readNBytes(ENVIRONMENT_MAX), StandardCharsets.ISO_8859_1);
    } catch (IOException goneOrSomebodyElses) {
      return "";
    }
  }

  /// Asks the process to end, or ends it. Never hits another that got its number.
  static void signal(Entry entry, boolean force) {
    // The handle remembers when its process started, and signals no other.
    var handle = ProcessHandle.of(entry.pid());
    if (handle.isPresent() && alive(entry)) {
      if (force) {
        handle.get().destroyForcibly();
      } else {
        handle.get().destroy();
      }
    }
  }

  private static Optional<Entry> stat(Path folder) {
    return stat(folder, false);
  }

  /// The process, if it has `ended` or not. The format is in proc(5). The name, in parentheses, may hold anything,
  /// also parentheses.
  private static Optional<Entry> stat(Path folder, boolean ended) {
    try {
      var text = Files.readString(folder.resolve("stat"), StandardCharsets.ISO_8859_1);
      var fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
      var over = fields[0].equals("Z") || fields[0].equals("X");
      return over != ended
          ? Optional.empty()
          : Optional.of(
              new Entry(
                  Long.parseLong(text.substring(0, text.indexOf(' '))),
                  Long.parseLong(fields[1]),
                  Long.parseLong(fields[3]),
                  Long.parseLong(fields[19])));
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  private static Entry entry(ProcessHandle handle) {
    return new Entry(
        handle.pid(),
        handle.parent().map(ProcessHandle::pid).orElse(0L),
        0,
        handle.info().startInstant().map(Instant::toEpochMilli).orElse(0L));
  }
}
