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
final class EffectLedger {

  /// One effect, and the number of the server run that caused it.
  record RecordedEffect(int serverRun, String tool, String key) {}

  private final List<RecordedEffect> effects = new ArrayList<>();

  /// One run of a server, until it crashes when it reaches `place` for the `countdown`-th time.
  final class ServerRun implements FailPoint {
    private final int number;
    private final String place;
    private final Runnable onDeath;
    private final Map<String, Integer> reached = new LinkedHashMap<>();
    private int countdown;
    private boolean dead;

    private ServerRun(int number, String place, int countdown, Runnable onDeath) {
      this.number = number;
      this.place = place;
      this.countdown = countdown;
      this.onDeath = onDeath;
    }

    @Override
    public void reach(String name) {
      synchronized (EffectLedger.this) {
        reached.merge(name, 1, Integer::sum);
        if (!dead && name.equals(place) && --countdown == 0) {
          dead = true;
          onDeath.run();
        }
        checkAlive();
      }
    }

    boolean dead() {
      synchronized (EffectLedger.this) {
        return dead;
      }
    }

    /// How often each fail point was reached.
    Map<String, Integer> reached() {
      synchronized (EffectLedger.this) {
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
                recordEffect(name, context);
                return TestTool.done(name + arguments);
              });
      return new TestTool(
          name, tool.effect(), tool.permission(), concurrent, tool.body(), tool.called());
    }

    private void recordEffect(String tool, ToolContext context) {
      synchronized (EffectLedger.this) {
        checkAlive();
        effects.add(new RecordedEffect(number, tool, context.key()));
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
  ServerRun crashingRun(int number, String place, int countdown, Runnable onDeath) {
    return new ServerRun(number, place, countdown, onDeath);
  }

  /// A server that does not crash.
  ServerRun stableRun(int number) {
    return new ServerRun(number, "", 0, () -> {});
  }

  synchronized List<RecordedEffect> effects() {
    return List.copyOf(effects);
  }
}
