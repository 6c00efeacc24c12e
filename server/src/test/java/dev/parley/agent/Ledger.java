package dev.parley.agent;

import dev.parley.protocol.Rejection;
import dev.parley.task.FailPoint;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.ToolContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The side effects of tools, across crashes: it outlives the servers.
///
/// The lock orders crashes and effects: a crashed server has no further effects.
final class Ledger {

  /// One effect, and the number of the server run that caused it.
  record Effected(int life, String tool, String key) {}

  private final List<Effected> effects = new ArrayList<>();

  /// One run of a server, until it crashes when it reaches `place` for the `countdown`-th time.
  final class Life implements FailPoint {
    private final int number;
    private final String place;
    private final Runnable onDeath;
    private final Map<String, Integer> reached = new LinkedHashMap<>();
    private int countdown;
    private boolean dead;

    private Life(int number, String place, int countdown, Runnable onDeath) {
      this.number = number;
      this.place = place;
      this.countdown = countdown;
      this.onDeath = onDeath;
    }

    @Override
    public void reach(String name) {
      synchronized (Ledger.this) {
        reached.merge(name, 1, Integer::sum);
        if (!dead && name.equals(place) && --countdown == 0) {
          dead = true;
          onDeath.run();
        }
        checkAlive();
      }
    }

    boolean dead() {
      synchronized (Ledger.this) {
        return dead;
      }
    }

    /// How often each fail point was reached.
    Map<String, Integer> reached() {
      synchronized (Ledger.this) {
        return Map.copyOf(reached);
      }
    }

    /// A tool that records a side effect.
    TestTool tool(String name, Effect effect, Permission permission, boolean concurrent) {
      var tool =
          TestTool.of(
              name,
              effect,
              permission,
              (arguments, context) -> {
                note(name, context);
                return TestTool.done(name + arguments);
              });
      return new TestTool(
          name, tool.effect(), tool.permission(), concurrent, tool.body(), tool.called());
    }

    private void note(String tool, ToolContext context) {
      synchronized (Ledger.this) {
        checkAlive();
        effects.add(new Effected(number, tool, context.key()));
      }
    }

    private void checkAlive() {
      if (dead) {
        throw new Rejection.Gone("the server has died");
      }
    }
  }

  /// A server that crashes when it reaches `place` for the `countdown`-th time; `onDeath` runs at
  /// that moment.
  Life die(int number, String place, int countdown, Runnable onDeath) {
    return new Life(number, place, countdown, onDeath);
  }

  /// A server that does not crash.
  Life live(int number) {
    return new Life(number, "", 0, () -> {});
  }

  synchronized List<Effected> effects() {
    return List.copyOf(effects);
  }
}
