package dev.parley.control;

import dev.parley.control.ControlStorage.ControlChange;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.PauseView;
import dev.parley.protocol.PauseView.PauseScope;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskAccount;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/// The pauses that operators have set. They survive a restart and a takeover. Thread-safe: the
/// monitor guards changes, and readers see an immutable list.
public final class Pauses {

  private static final String KIND = "pause";
  private static final int PAUSES_MAX = 1_000;
  private static final int TEXT_MAX = 500;

  private final ControlStorage storage;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile List<PauseView> active;

  /// What an operator pauses, and why.
  public record PauseRequest(PauseScope scope, @Nullable String target, @Nullable String reason) {

    public PauseRequest {
      if ((scope == PauseScope.ALL) != (target == null || target.isBlank())) {
        throw new Rejection.Invalid(
            scope == PauseScope.ALL
                ? "a pause of everything has no target"
                : "name the " + scope.wire() + " to pause");
      }
      checkLength(target);
      checkLength(reason);
    }

    private static void checkLength(@Nullable String text) {
      if (text != null && text.length() > TEXT_MAX) {
        throw new Rejection.Invalid(
            "a target and a reason have at most " + TEXT_MAX + " characters");
      }
    }

    String id() {
      return target == null || target.isBlank() ? scope.wire() : scope.wire() + ":" + target;
    }
  }

  /// Reads the stored pauses.
  ///
  /// @throws Rejection.Unavailable if they cannot be read
  public Pauses(ControlStorage storage) {
    this.storage = storage;
    var stored = new ArrayList<PauseView>();
    storage
        .load(KIND)
        .values()
        .forEach(
            data -> stored.add(Json.read(data.getBytes(StandardCharsets.UTF_8), PauseView.class)));
    active = sorted(stored);
  }

  /// The active pauses, oldest first.
  public List<PauseView> active() {
    return active;
  }

  /// The pause that applies to a task of this agent and account, if there is one.
  public Optional<PauseView> find(AgentTypeId agent, TaskAccount account) {
    var all = active;
    return all.isEmpty()
        ? Optional.empty()
        : all.stream().filter(pause -> applies(pause, agent, account)).findFirst();
  }

  private static boolean applies(PauseView pause, AgentTypeId agent, TaskAccount account) {
    return switch (pause.scope()) {
      case ALL -> true;
      case TENANT -> account.tenantName().equals(pause.target());
      case PERSON -> account.principal().equals(pause.target());
      case AGENT -> agent.value().equals(pause.target());
    };
  }

  /// Sets a pause, or replaces the one with the same target. It is durable when this returns.
  public PauseView set(PauseRequest request, String principal, Instant now) {
    var pause =
        new PauseView(
            request.id(), request.scope(), request.target(), principal, now, request.reason(), 0);
    synchronized (this) {
      var others = active.stream().filter(other -> !other.id().equals(pause.id())).toList();
      if (others.size() >= PAUSES_MAX) {
        throw new Rejection.Busy(
            "too-many-pauses", "there are " + PAUSES_MAX + " pauses; end some");
      }
      storage.write(
          List.of(
              new ControlChange(
                  KIND, pause.id(), new String(Json.bytes(pause), StandardCharsets.UTF_8))));
      var all = new ArrayList<>(others);
      all.add(pause);
      active = sorted(all);
    }
    listeners.forEach(Runnable::run);
    return pause;
  }

  /// Ends a pause and returns it.
  ///
  /// @throws Rejection.NotFound if there is no such pause
  public PauseView end(String id) {
    PauseView ended;
    synchronized (this) {
      ended =
          active.stream()
              .filter(pause -> pause.id().equals(id))
              .findFirst()
              .orElseThrow(() -> new Rejection.NotFound("nothing is paused as " + id));
      storage.write(List.of(new ControlChange(KIND, id, null)));
      active = active.stream().filter(pause -> !pause.id().equals(id)).toList();
    }
    listeners.forEach(Runnable::run);
    return ended;
  }

  /// Calls `listener` after each change.
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  private static List<PauseView> sorted(List<PauseView> pauses) {
    return pauses.stream()
        .sorted(Comparator.comparing(PauseView::since).thenComparing(PauseView::id))
        .toList();
  }
}
