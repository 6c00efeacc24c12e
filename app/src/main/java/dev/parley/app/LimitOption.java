package dev.parley.app;

/// The value of `--limit`.
final class LimitOption {

  private LimitOption() {}

  /// @throws Exit if the limit is below 1
  static int check(int limit) {
    if (limit < 1) {
      throw new CommandExit(CommandExit.USAGE, "--limit must be at least 1, not " + limit);
    }
    return limit;
  }
}
