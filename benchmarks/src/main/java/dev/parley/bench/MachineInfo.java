package dev.parley.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Describes the machine that runs the benchmarks.
final class MachineInfo {

  private MachineInfo() {}

  /// Reports the machine and its noise. If that is too high, goals are not judged.
  static void describe(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("Machine");
    var noise = MachineNoise.measure();
    benchmarkReport.note(
        "%s %s, %d processors, Java %s, fsync of 4 KiB about %s ms"
            .formatted(
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.version"),
                BenchmarkReport.shown(noise.syncMillis())));
    benchmarkReport.note(noise.describe());
    var reasons = noise.reasons();
    if (!reasons.isEmpty()) {
      benchmarkReport.note("Goals are not judged: " + String.join("; ", reasons));
      benchmarkReport.doNotJudge();
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
