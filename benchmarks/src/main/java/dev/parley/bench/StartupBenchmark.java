package dev.parley.bench;

import static dev.parley.bench.Report.shown;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// The time from the start of the program until it accepts requests, and its memory when idle.
///
/// The first start is not counted, because it may build the program.
final class StartupBenchmark implements Benchmark {

  private static final double MIB = 1 << 20;

  private final Pace pace;

  StartupBenchmark(Pace pace) {
    this.pace = pace;
  }

  @Override
  public String name() {
    return "startup";
  }

  @Override
  public void run(Report report) throws IOException, InterruptedException {
    report.title("Start-up: from the process's start to 'Parley is ready'");
    var program = Home.root().map(root -> root.resolve("parley"));
    var seconds = new ArrayList<Double>();
    var resident = 0L;
    for (var i = 0; i <= pace.starts(); i++) {
      try (var folder = Folder.make()) {
        var begin = System.nanoTime();
        try (var server = start(program, folder.path())) {
          server.await("Parley is ready: ");
          seconds.add((System.nanoTime() - begin) / 1e9);
          if (i == pace.starts()) {
            TimeUnit.MILLISECONDS.sleep(pace.idle().toMillis());
            resident = Machine.residentBytes(server.pid());
          }
        }
      }
    }
    var first = seconds.removeFirst();
    print(report, program.isPresent(), seconds, first, resident);
  }

  private static Child start(Optional<Path> program, Path data) throws IOException {
    var arguments = List.of("serve", "--port", "0", "--data", data.toString());
    if (program.isEmpty()) {
      return Child.server(dev.parley.app.Main.class, arguments.toArray(String[]::new));
    }
    var command = new ArrayList<String>();
    command.add(program.get().toString());
    command.addAll(arguments);
    return Child.start(command, data);
  }

  private static void print(
      Report report, boolean real, List<Double> seconds, double first, long resident) {
    var sorted = seconds.stream().sorted().toList();
    var middle = Middle.of(seconds);
    report.table(
        new Table(real ? "./parley serve" : "java, without ./parley", "measured")
            .row("first start, s", shown(first))
            .row("later starts, fastest, s", shown(sorted.getFirst()))
            .row("later starts, middle, s", shown(middle))
            .row("later starts, slowest, s", shown(sorted.getLast()))
            .row("resident memory when idle, MB", resident < 0 ? "?" : shown(resident / MIB)));
    report.atMost("second start", 1.5, middle, " s");
    if (resident >= 0) {
      report.atMost("idle resident memory", 150, resident / MIB, " MB");
    }
  }
}
