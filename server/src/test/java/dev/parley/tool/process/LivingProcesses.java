package dev.parley.tool.process;

/// Lets tests of other packages check whether a process is running; a process that has ended and
/// was not reaped is not.
public final class LivingProcesses {

  private LivingProcesses() {}

  public static boolean has(long pid) {
    return ProcessTable.find(pid).isPresent();
  }
}
