package dev.parley.tool.process;

/// Tells tests of other packages what lives; what has ended and only waits for its parent does not.
public final class Living {

  private Living() {}

  public static boolean has(long pid) {
    return ProcessTable.find(pid).isPresent();
  }
}
