package dev.parley.tool.process;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// Limits the processes and the memory of a program and all its descendants together, where this
/// process may create control groups (version 1 or 2).
///
/// Each program gets a group of its own, below the group of this process or next to it. It is
/// removed when the program has ended.
final class ControlGroups {

  private static final System.Logger LOG = System.getLogger(ControlGroups.class.getName());
  private static final String PREFIX = "parley-";

  /// The file that limits the processes, in both versions.
  private static final String PROCESSES = "pids.max";

  private static final String MEMORY_1 = "memory.limit_in_bytes";
  private static final String MEMORY_2 = "memory.max";

  /// A folder in which groups can be created, and the files that limit a group there.
  private record GroupParent(Path folder, List<String> limits) {}

  private final List<GroupParent> parents;

  private ControlGroups(List<GroupParent> parents) {
    this.parents = List.copyOf(parents);
  }

  /// Without groups.
  static ControlGroups none() {
    return new ControlGroups(List.of());
  }

  /// The groups of this system that this process can use; `id` is a group that it creates to find
  /// out.
  static ControlGroups find(String id) {
    try {
      return find(
          id,
          Files.readAllLines(Path.of("/proc/self/cgroup")),
          Files.readAllLines(Path.of("/proc/self/mountinfo")));
    } catch (IOException unsupported) {
      return none();
    }
  }

  /// The same from the content of `/proc/self/cgroup` and `/proc/self/mountinfo`.
  static ControlGroups find(String id, List<String> groups, List<String> mounts) {
    var found = new ArrayList<GroupParent>();
    for (var limits :
        List.of(List.of(PROCESSES, MEMORY_2), List.of(PROCESSES), List.of(MEMORY_1))) {
      var known = found.stream().flatMap(parent -> parent.limits().stream()).toList();
      if (limits.stream().noneMatch(known::contains)
          && (found.isEmpty() || !known.contains(MEMORY_2))) {
        candidates(groups, mounts)
            .filter(folder -> usable(folder, PREFIX + id, limits))
            .findFirst()
            .ifPresent(folder -> found.add(new GroupParent(folder, limits)));
      }
    }
    return new ControlGroups(found);
  }

  /// True if all descendants of a program together are limited in both respects.
  boolean complete() {
    return limitsProcesses()
        && parents.stream()
            .anyMatch(
                parent -> parent.limits().contains(MEMORY_1) || parent.limits().contains(MEMORY_2));
  }

  /// True if the processes of a program are counted.
  boolean limitsProcesses() {
    return parents.stream().anyMatch(parent -> parent.limits().contains(PROCESSES));
  }

  /// The folders of the groups of this process, and those above them.
  private static Stream<Path> candidates(List<String> groups, List<String> mounts) {
    return groups.stream()
        .map(line -> line.split(":", 3))
        .filter(fields -> fields.length == 3)
        .flatMap(
            fields ->
                mounts.stream()
                    .flatMap(mount -> mountPoint(mount, fields[1]).stream())
                    .map(mount -> mount.resolve(fields[2].substring(1)).normalize()))
        .flatMap(own -> Stream.ofNullable(own.getParent()).flatMap(up -> Stream.of(own, up)));
  }

  /// The folder of a hierarchy with these controllers; version 2 has none there.
  private static Optional<Path> mountPoint(String mount, String controllers) {
    var parts = mount.split(" - ", 2);
    var fields = parts[0].split(" ", -1);
    var system = parts.length < 2 ? new String[0] : parts[1].split(" ", -1);
    if (fields.length < 5 || system.length < 3) {
      return Optional.empty();
    }
    var matches =
        controllers.isEmpty()
            ? system[0].equals("cgroup2")
            : system[0].equals("cgroup")
                && Arrays.asList(system[2].split(",", -1))
                    .containsAll(Arrays.asList(controllers.split(",", -1)));
    return matches ? Optional.of(Path.of(fields[4])) : Optional.empty();
  }

  private static boolean usable(Path parent, String name, List<String> limits) {
    if (!Files.isWritable(parent)) {
      return false;
    }
    var group = parent.resolve(name);
    try {
      if (limits.contains(MEMORY_2)) {
        enable(parent);
      }
      Files.createDirectory(group);
      try {
        return limits.stream().allMatch(limit -> Files.isWritable(group.resolve(limit)))
            && Files.isWritable(group.resolve("cgroup.procs"));
      } finally {
        Files.delete(group);
      }
    } catch (IOException refused) {
      return false;
    }
  }

  /// Lets the groups below a group of version 2 have limits.
  private static void enable(Path parent) {
    try {
      Files.writeString(parent.resolve("cgroup.subtree_control"), "+pids +memory");
    } catch (IOException impossible) {
      LOG.log(Level.DEBUG, "cannot enable limits in {0}: {1}", parent, impossible);
    }
  }

  /// Creates the groups of a program, and returns the files that a process writes to in order to
  /// join them.
  List<Path> create(String id, ProcessIsolation.ProcessLimits limits) throws IOException {
    var join = new ArrayList<Path>();
    var values =
        Map.of(
            PROCESSES, (long) limits.processes(),
            MEMORY_1, limits.memoryBytes(),
            MEMORY_2, limits.memoryBytes());
    for (var parent : parents) {
      var group = parent.folder().resolve(PREFIX + id);
      Files.createDirectories(group);
      for (var limit : parent.limits()) {
        var value = values.getOrDefault(limit, 0L);
        if (value > 0) {
          Files.writeString(group.resolve(limit), Long.toString(value));
        }
      }
      join.add(group.resolve("cgroup.procs"));
    }
    return join;
  }

  /// Removes the groups of a program whose processes have ended.
  void remove(String id) {
    for (var parent : parents) {
      try {
        Files.deleteIfExists(parent.folder().resolve(PREFIX + id));
      } catch (IOException busy) {
        LOG.log(Level.DEBUG, "cannot remove the control group of {0}: {1}", id, busy);
      }
    }
  }
}
