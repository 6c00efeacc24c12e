package dev.parley.client;

import dev.parley.protocol.Kind;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.WireName;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Which events a reader wants; the server does the leaving out.
///
/// Empty sets and nulls ask for all. `internal` asks for internal events as well.
public record StreamFilter(
    Set<Kind> kinds,
    Set<Kind> excluded,
    @Nullable TaskId taskId,
    @Nullable Verbosity verbosity,
    Set<ThoughtType> thoughtTypes,
    @Nullable Double minConfidence,
    boolean internal) {

  /// Every public event.
  public static final StreamFilter ALL =
      new StreamFilter(Set.of(), Set.of(), null, null, Set.of(), null, false);

  public StreamFilter {
    kinds = Set.copyOf(kinds);
    excluded = Set.copyOf(excluded);
    thoughtTypes = Set.copyOf(thoughtTypes);
  }

  /// Only these kinds.
  public StreamFilter onlyKinds(Set<Kind> wanted) {
    return new StreamFilter(
        wanted, excluded, taskId, verbosity, thoughtTypes, minConfidence, internal);
  }

  /// All but these kinds.
  public StreamFilter withoutKinds(Set<Kind> unwanted) {
    return new StreamFilter(
        kinds, unwanted, taskId, verbosity, thoughtTypes, minConfidence, internal);
  }

  /// Only this task, or all if null.
  public StreamFilter onlyTask(@Nullable TaskId task) {
    return new StreamFilter(
        kinds, excluded, task, verbosity, thoughtTypes, minConfidence, internal);
  }

  /// Internal events as well, or not.
  public StreamFilter withInternal(boolean wanted) {
    return new StreamFilter(
        kinds, excluded, taskId, verbosity, thoughtTypes, minConfidence, wanted);
  }

  /// True if no public event is left out, so that a jump in the numbers means a loss.
  boolean dense() {
    return kinds.isEmpty()
        && excluded.isEmpty()
        && taskId == null
        && verbosity == null
        && thoughtTypes.isEmpty()
        && minConfidence == null;
  }

  /// Adds this filter to a query.
  Query addTo(Query query) {
    return query
        .with("kinds", names(sorted(kinds)))
        .with("exclude", names(sorted(excluded)))
        .with("taskId", taskId)
        .with("verbosity", verbosity == null ? null : verbosity.wire())
        .with("thoughtTypes", names(thoughtTypes))
        .with("minConfidence", minConfidence)
        .with("internal", internal ? true : null);
  }

  private static Set<Kind> sorted(Set<Kind> kinds) {
    return kinds.isEmpty() ? kinds : EnumSet.copyOf(kinds);
  }

  private static @Nullable String names(Collection<? extends WireName> values) {
    return values.isEmpty()
        ? null
        : values.stream().map(WireName::wire).collect(Collectors.joining(","));
  }
}
