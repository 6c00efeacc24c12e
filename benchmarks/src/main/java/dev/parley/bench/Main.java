package dev.parley.bench;

/// The program `bench`: runs the benchmarks it is given the names of, or all.
///
/// A placeholder, until there is something to measure.
public final class Main {

  private Main() {}

  /// Runs the benchmarks that `names` name.
  public static void main(String[] names) {
    System.out.println("no benchmarks yet");
  }
}
