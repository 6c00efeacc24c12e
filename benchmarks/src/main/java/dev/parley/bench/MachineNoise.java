package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/// How much other programs and other virtual machines disturb this machine, measured for about two
/// seconds.
///
/// - `loopSlowdown`: the mean time of a fixed loop that runs on all processors at once, divided by
///   its fastest tenth.
/// - `stolen`: the share of processor time that the hypervisor gave to other machines.
/// - `others`: the share of processor time that other programs used.
/// - `syncSpread`: the p95 of an fsync of 4 KiB divided by its median.
///
/// A share is 0 if the system does not report it.
record MachineNoise(
    double loopSlowdown, double stolen, double others, double syncMillis, double syncSpread) {

  // docs/benchmarks.md shows the measurements from which these limits come.
  private static final double SLOWDOWN_MAX = 1.25;
  private static final double STOLEN_MAX = 0.03;
  private static final double OTHERS_MAX = 0.1;
  private static final double SPREAD_MAX = 3;

  private static final int LOOPS = 400;
  private static final int LOOP_STEPS = 1_000_000;
  private static final int WARM_UP_LOOPS = 50;
  private static final int SYNCS = 300;
  private static final Path PROCESSORS = Path.of("/proc/stat");

  /// The field of `/proc/stat` with the idle time, the one with the time of waiting for the disk,
  /// the one with the stolen time, and the number of fields that are not part of others.
  private static final int IDLE = 3;

  private static final int WAITING = 4;
  private static final int STOLEN = 7;
  private static final int FIELDS = 8;
  private static final double TICKS_PER_SECOND = 100;

  static MachineNoise measure() throws IOException, InterruptedException {
    loops(WARM_UP_LOOPS);
    var before = processorTicks();
    var ownBefore = ownSeconds();
    var loops = loops(LOOPS);
    var syncs = syncs();
    var after = processorTicks();
    var own = (ownSeconds() - ownBefore) * TICKS_PER_SECOND;
    var fastest = loops[loops.length / 10];
    var mean = Arrays.stream(loops).average().orElse(0);
    var all = 0.0;
    for (var i = 0; i < FIELDS; i++) {
      all += after[i] - before[i];
    }
    var stolen = after[STOLEN] - before[STOLEN];
    var unused = after[IDLE] - before[IDLE] + after[WAITING] - before[WAITING] + stolen;
    return new MachineNoise(
        mean / fastest,
        all == 0 ? 0 : stolen / all,
        all == 0 ? 0 : Math.max(0, (all - unused - own) / all),
        syncs[syncs.length / 2] / 1e6,
        (double) syncs[syncs.length * 95 / 100] / syncs[syncs.length / 2]);
  }

  String describe() {
    return "Noise: a loop on all processors takes %s x its fastest time, %s %% of processor time stolen, %s %% used by other programs, fsync of 4 KiB %s ms with a p95 of %s x"
        .formatted(
            shown(loopSlowdown),
            shown(100 * stolen),
            shown(100 * others),
            shown(syncMillis),
            shown(syncSpread));
  }

  /// Why goals cannot be judged on this machine now. Empty if they can.
  List<String> reasons() {
    var reasons = new ArrayList<String>();
    add(reasons, "the slowdown of the loop", loopSlowdown, SLOWDOWN_MAX);
    add(reasons, "the share of stolen time", stolen, STOLEN_MAX);
    add(reasons, "the share of other programs", others, OTHERS_MAX);
    add(reasons, "the spread of fsync", syncSpread, SPREAD_MAX);
    return List.copyOf(reasons);
  }

  private static void add(List<String> reasons, String what, double measured, double most) {
    if (measured > most) {
      reasons.add("%s is %s, the limit is %s".formatted(what, shown(measured), shown(most)));
    }
  }

  /// The nanoseconds of each loop, sorted, of a thread for each processor.
  private static long[] loops(int count) throws InterruptedException {
    var processors = Runtime.getRuntime().availableProcessors();
    var times = new long[processors][count];
    var threads = new ArrayList<Thread>();
    for (var i = 0; i < processors; i++) {
      var own = times[i];
      threads.add(Thread.ofPlatform().name("bench-noise").start(() -> loop(own)));
    }
    for (var thread : threads) {
      thread.join();
    }
    return Arrays.stream(times).flatMapToLong(LongStream::of).sorted().toArray();
  }

  private static void loop(long[] times) {
    var value = 1L;
    for (var i = 0; i < times.length; i++) {
      var begin = System.nanoTime();
      for (var step = 0; step < LOOP_STEPS; step++) {
        value = value * 6_364_136_223_846_793_005L + step;
      }
      // The value is used, so that the loop is not removed.
      times[i] = System.nanoTime() - begin + (value == 0 ? 1 : 0);
    }
  }

  private static long[] syncs() throws IOException {
    var file = Files.createTempFile("parley-bench", ".sync");
    var times = new long[SYNCS];
    try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      for (var i = 0; i < SYNCS; i++) {
        var begin = System.nanoTime();
        channel.write(ByteBuffer.allocate(4_096));
        channel.force(false);
        times[i] = System.nanoTime() - begin;
      }
    } finally {
      Files.delete(file);
    }
    Arrays.sort(times);
    return times;
  }

  private static double[] processorTicks() throws IOException {
    var ticks = new double[FIELDS];
    if (Files.exists(PROCESSORS)) {
      var fields = Files.readAllLines(PROCESSORS).getFirst().trim().split("\\s+", -1);
      for (var i = 0; i < FIELDS; i++) {
        ticks[i] = Double.parseDouble(fields[i + 1]);
      }
    }
    return ticks;
  }

  private static double ownSeconds() {
    return MachineInfo.cpuSeconds(ProcessHandle.current().pid());
  }
}
