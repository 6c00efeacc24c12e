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

/// What tools did to the world, across crashes: it stays when a server dies.
///
/// Its lock makes a death and an effect follow each other: what has died does nothing any more.
final class Ledger {

  /// One thing that was done, by the so manieth server.
  record Effected(int life, String tool, String key) {}

  private final List<Effected> effects = new ArrayList<>();

  /// One server's hold on the world, until it dies at the `countdown`-th arrival at `place`.
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

    /// How often which place was reached.
    Map<String, Integer> reached() {
      synchronized (Ledger.this) {
        return Map.copyOf(reached);
      }
    }

    /// A tool that does something to the world.
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

  /// A server that dies at the `countdown`-th arrival at `place`; `onDeath` is run at that moment.
  Life die(int number, String place, int countdown, Runnable onDeath) {
    return new Life(number, place, countdown, onDeath);
  }

  /// A server that lives.
  Life live(int number) {
    return new Life(number, "", 0, () -> {});
  }

  synchronized List<Effected> effects() {
    return List.copyOf(effects);
  }
}
