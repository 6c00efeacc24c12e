package dev.parley.tool.process;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/// What an isolated program may use, besides the system's programs and a private folder for
/// temporary files. Without a [Sandbox] it has no effect.
///
/// @param isolated false if this program runs without isolation although others have it
/// @param network the network of the machine; otherwise the program has only a loopback of its own
/// @param ownServer requests to this server
/// @param folderWritable whether the program may write to the folder in which it starts
/// @param readable more files and folders that the program can read
/// @param writable more files and folders that the program can read and write
public record ProcessIsolation(
    boolean isolated,
    boolean network,
    boolean ownServer,
    boolean folderWritable,
    ProcessLimits limits,
    List<Path> readable,
    List<Path> writable) {

  /// For commands of the shell tool: no network.
  public static final ProcessIsolation COMMANDS =
      new ProcessIsolation(true, false, false, true, ProcessLimits.DEFAULT, List.of(), List.of());

  /// For programs that are agents: they need the network to ask a model.
  public static final ProcessIsolation AGENTS =
      new ProcessIsolation(true, true, false, true, ProcessLimits.DEFAULT, List.of(), List.of());

  /// For MCP servers: no network, and they only read the folder in which they start.
  public static final ProcessIsolation MCP_SERVERS =
      new ProcessIsolation(true, false, false, false, ProcessLimits.DEFAULT, List.of(), List.of());

  public ProcessIsolation {
    readable = List.copyOf(readable);
    writable = List.copyOf(writable);
  }

  /// A copy that can also read and write these files and folders.
  public ProcessIsolation withWritable(List<Path> more) {
    return new ProcessIsolation(
        isolated,
        network,
        ownServer,
        folderWritable,
        limits,
        readable,
        Stream.concat(writable.stream(), more.stream()).distinct().toList());
  }

  /// A copy that can also read these files and folders.
  public ProcessIsolation withReadable(List<Path> more) {
    return new ProcessIsolation(
        isolated,
        network,
        ownServer,
        folderWritable,
        limits,
        Stream.concat(readable.stream(), more.stream()).distinct().toList(),
        writable);
  }

  /// A copy for a program that runs without isolation although others have it.
  public ProcessIsolation withoutIsolation() {
    return new ProcessIsolation(
        false, network, ownServer, folderWritable, limits, readable, writable);
  }

  /// The limits of an isolated program. A limit of 0 is no limit.
  ///
  /// @param memoryBytes the data of the program and its processes, or of each process where control
  /// groups cannot be used
  /// @param processes processes and threads at the same time
  /// @param cpuTime the CPU time of each process
  /// @param fileBytes the size of each file that it writes
  /// @param temporaryBytes the size of each private folder: for temporary files, and the home folder
  public record ProcessLimits(
      long memoryBytes, int processes, Duration cpuTime, long fileBytes, long temporaryBytes) {

    /// The defaults.
    public static final ProcessLimits DEFAULT =
        new ProcessLimits(4L << 30, 512, Duration.ZERO, 4L << 30, 512L << 20);
  }
}
