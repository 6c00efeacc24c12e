package dev.parley.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Describes the machine that runs the benchmarks.
final class MachineInfo {

  private static final int SYNCS = 50;

  private MachineInfo() {}

  static void describe(BenchmarkReport benchmarkReport) throws IOException {
    benchmarkReport.title("Machine");
    benchmarkReport.note(
        "%s %s, %d processors, Java %s, fsync of 4 KiB about %s ms"
            .formatted(
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.version"),
                BenchmarkReport.shown(syncMillis())));
  }

  private static double syncMillis() throws IOException {
    var file = Files.createTempFile("parley-bench", ".sync");
    try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      var begin = System.nanoTime();
      for (var i = 0; i < SYNCS; i++) {
        channel.write(ByteBuffer.allocate(4_096));
        channel.force(false);
      }
      return (System.nanoTime() - begin) / 1e6 / SYNCS;
    } finally {
      Files.delete(file);
    }
  }

  /// The resident memory of a process, or -1 if the system does not report it.
  static long residentBytes(long process) throws IOException {
    var status = Path.of("/proc/" + process + "/status");
    if (!Files.exists(status)) {
      return -1;
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
        .findFirst()
        .orElse(-1);
  }

  /// The processor time that a process has used, or NaN if the system does not report it.
  static double cpuSeconds(long process) {
    return ProcessHandle.of(process)
        .flatMap(handle -> handle.info().totalCpuDuration())
        .map(time -> time.toNanos() / 1e9)
        .orElse(Double.NaN);
  }
}
