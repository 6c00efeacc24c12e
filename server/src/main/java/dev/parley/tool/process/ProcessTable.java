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

/// The running processes of this machine: from `/proc` if it exists, otherwise from Java.
final class ProcessTable {

  /// The identity of a process, and its parent and session.
  ///
  /// `start` counts ticks since the machine was started, or milliseconds without `/proc`. In that
  /// case `session` is 0.
  record ProcessInfo(long pid, long parent, long session, long start) {}

  private static final Path PROC = Path.of("/proc");
  private static final boolean LINUX = Files.isReadable(PROC.resolve("self/stat"));
  private static final int ENVIRONMENT_MAX = 1 << 20;

  private ProcessTable() {}

  static boolean linux() {
    return LINUX;
  }

  /// The boot id of this machine; `-` if it is unknown.
  static String bootId() {
    try {
      return Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip();
    } catch (IOException unknown) {
      return "-";
    }
  }

  /// All processes, except those that have ended and were not reaped yet.
  static Map<Long, ProcessInfo> snapshot() {
    var all = new HashMap<Long, ProcessInfo>();
    if (!LINUX) {
      ProcessHandle.allProcesses().forEach(handle -> all.put(handle.pid(), entry(handle)));
      return all;
    }
    try (var folders = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (var folder : folders) {
        stat(folder).ifPresent(processInfo -> all.put(processInfo.pid(), processInfo));
      }
    } catch (IOException unreadable) {
      throw new IllegalStateException("/proc cannot be read", unreadable);
    }
    return all;
  }

  /// The children of `parent` that have ended and were not reaped yet. Linux only.
  static Set<ProcessInfo> ended(long parent) {
    var all = new HashSet<ProcessInfo>();
    try (var folders = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (var folder : folders) {
        stat(folder, true)
            .filter(processInfo -> processInfo.parent() == parent)
            .ifPresent(all::add);
      }
    } catch (IOException unreadable) {
      throw new IllegalStateException("/proc cannot be read", unreadable);
    }
    return all;
  }

  static Optional<ProcessInfo> find(long pid) {
    return LINUX
        ? stat(PROC.resolve(Long.toString(pid)))
        : ProcessHandle.of(pid).filter(ProcessHandle::isAlive).map(ProcessTable::entry);
  }

  /// True if the process is still running, and its id was not reused.
  static boolean alive(ProcessInfo processInfo) {
    return find(processInfo.pid()).filter(now -> now.start() == processInfo.start()).isPresent();
  }

  /// The initial environment of the process: each variable, `NAME=value`, between two NULs. Empty
  /// if it cannot be read.
  static String environment(ProcessInfo processInfo) {
    if (!LINUX) {
      return "";
    }
    try (var input = Files.newInputStream(PROC.resolve(processInfo.pid() + "/environ"))) {
      return "\0" + new String(input.readNBytes(ENVIRONMENT_MAX), StandardCharsets.ISO_8859_1);
    } catch (IOException goneOrSomebodyElses) {
      return "";
    }
  }

  /// Asks the process to end, or kills it with `force`. Never signals another process that got the
  /// same id.
  static void signal(ProcessInfo processInfo, boolean force) {
    // The handle contains the start time of its process, and signals no other.
    var handle = ProcessHandle.of(processInfo.pid());
    if (handle.isPresent() && alive(processInfo)) {
      if (force) {
        handle.get().destroyForcibly();
      } else {
        handle.get().destroy();
      }
    }
  }

  private static Optional<ProcessInfo> stat(Path folder) {
    return stat(folder, false);
  }

  /// The process, if its state matches `ended`. The format is described in proc(5). The name, in
  /// parentheses, may contain any characters, including parentheses.
  private static Optional<ProcessInfo> stat(Path folder, boolean ended) {
    try {
      var text = Files.readString(folder.resolve("stat"), StandardCharsets.ISO_8859_1);
      var fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
      var over = fields[0].equals("Z") || fields[0].equals("X");
      return over != ended
          ? Optional.empty()
          : Optional.of(
              new ProcessInfo(
                  Long.parseLong(text.substring(0, text.indexOf(' '))),
                  Long.parseLong(fields[1]),
                  Long.parseLong(fields[3]),
                  Long.parseLong(fields[19])));
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  private static ProcessInfo entry(ProcessHandle handle) {
    return new ProcessInfo(
        handle.pid(),
        handle.parent().map(ProcessHandle::pid).orElse(0L),
        0,
        handle.info().startInstant().map(Instant::toEpochMilli).orElse(0L));
  }
}
