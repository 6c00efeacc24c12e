package dev.parley.app;

/// Ends the program with an exit code and a message on standard error.
final class CommandExit extends RuntimeException {

  static final int FAILED = 1;
  static final int USAGE = 2;
  static final int NO_SERVER = 3;
  static final int INPUT_NEEDED = 4;
  static final int CANCELED = 130;

  private static final long serialVersionUID = 1L;

  private final int code;

  CommandExit(int code, String message) {
    super(message, null, false, false);
    this.code = code;
  }

  int code() {
    return code;
  }
}
