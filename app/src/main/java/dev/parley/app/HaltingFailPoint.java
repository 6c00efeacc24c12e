package dev.parley.app;

import dev.parley.server.Extensions;
import dev.parley.task.FailPoint;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/// Ends the process, as if it were killed, when a fail point is reached for the nth time. Only for
/// tests of recovery: the environment variable `PARLEY_FAIL_AT` has the value `name:n`.
final class HaltingFailPoint implements FailPoint {

  private static final String VARIABLE = "PARLEY_FAIL_AT";
  private static final int KILLED = 137;

  private final String place;
  private final AtomicInteger left;

  private HaltingFailPoint(String place, int arrivals) {
    this.place = place;
    this.left = new AtomicInteger(arrivals);
  }

  /// The extensions of a server: none, unless the environment variable is set.
  static Extensions extensions(Map<String, String> environment) {
    var wanted = environment.get(VARIABLE);
    if (wanted == null) {
      return Extensions.NONE;
    }
    var parts = wanted.split(":", 2);
    if (parts.length != 2 || !parts[1].matches("[1-9][0-9]{0,5}")) {
      throw new CommandExit(
          CommandExit.USAGE, VARIABLE + " must be a fail point and a number, such as begun:1");
    }
    var halt = new HaltingFailPoint(parts[0], Integer.parseInt(parts[1]));
    return Extensions.NONE.with(halt);
  }

  @Override
  public void reach(String name) {
    if (name.equals(place) && left.decrementAndGet() == 0) {
      Runtime.getRuntime().halt(KILLED);
    }
  }
}
