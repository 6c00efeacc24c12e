package dev.parley.app;

/// The program `parley`.
public final class Main {

  private Main() {}

  /// Runs the command in `arguments`, and ends the process with its exit code.
  public static void main(String[] arguments) {
    // One line per log record, unless a system property sets another format.
    var format = "java.util.logging.SimpleFormatter.format";
    if (System.getProperty(format) == null) {
      System.setProperty(format, "%1$tFT%1$tT.%1$tL %4$s %3$s: %5$s%6$s%n");
    }
    System.exit(CommandLineProgram.run(Terminal.system(), arguments));
  }
}
