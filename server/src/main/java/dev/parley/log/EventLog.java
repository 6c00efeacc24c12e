package dev.parley.log;

import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Where events live.
///
/// Safe for use by many threads, virtual ones too. What [#append] has returned survives a crash of the
/// process and of the machine, and no reader has seen it earlier. Every method that names a context
/// throws `NotFound` if there never was one and `Gone` if it was deleted.
public interface EventLog extends AutoCloseable {

  /// Begins a context with its first event. False if it already exists, and then changes nothing.
  ///
  /// @throws Rejection.Gone if the id belonged to a context that was deleted
  boolean create(ContextId context, ContextCreated created);

  /// Begins a context that shares the past of another, in no time: that is neither copied nor read.
  ///
  /// The fork's entries up to `forked.atSeq()` are the source's, under the fork's id but with the source's
  /// event ids; then `forked`, then the ends of the tasks that were open there, then `more`. From then on neither
  /// knows of the other: not even the source's deletion takes anything from the fork. Idempotency
  /// keys stay with the source. False if the fork already exists, and then changes nothing.
  ///
  /// @throws Rejection.Invalid if the source has no public event `atSeq`
  /// @throws Rejection.Gone if the source was deleted, or the id belonged to a context that was
  boolean fork(ContextId fork, ContextForked forked, List<Draft> more);

  /// The same, with nothing more.
  default boolean fork(ContextId fork, ContextForked forked) {
    return fork(fork, forked, List.of());
  }

  /// Asks `decide` for events, given the context as it now is, and adds them, all or none.
  ///
  /// `decide` is called under the context's lock, perhaps more than once: it must be quick, must not
  /// block, and has no effect but its result. It sees what other appends have added, even if that is
  /// not durable yet; a rejection is only passed on once what it was based on is durable.
  ///
  /// @return where the events stand; if `guard` is an [Guard.Once] whose key was used before with the
  ///     same body, where the earlier ones stand
  /// @throws Rejection what `decide` refused with; `Stale` if `guard` does not hold; `Conflict` if
  ///     an event breaks a rule of [ContextState]; `Unavailable` if the store cannot write
  Appended append(ContextId context, Guard guard, Decision decide);

  /// Up to `limit` entries that follow `after`, oldest first, internal ones too. Empty at the end.
  List<Entry> read(ContextId context, Position after, int limit);

  /// Where the last durable event stands.
  Position head(ContextId context);

  /// Waits for an entry that follows `after`. False if `patience` ran out first.
  ///
  /// @throws Rejection.Unavailable if the log was closed
  boolean await(ContextId context, Position after, Duration patience) throws InterruptedException;

  /// The context's state as of its last durable event, or a later one.
  ///
  /// The same that `decide` would see, for looking at without writing.
  <T> T inspect(ContextId context, Function<ContextState, T> look);

  /// Who owns the context.
  String owner(ContextId context);

  /// Removes every byte of the context. Returns when they are gone; its id is never used again.
  ///
  /// Appends do not wait for this. Who deletes a context again of which some bytes are left waits until
  /// they are gone, too.
  ///
  /// @throws Rejection.Unavailable if the store cannot write; what is left of a context that is gone is
  ///     removed later, also after a restart
  void delete(ContextId context);

  /// The same, where what is left of the context names who deleted it and when. `principal` is missing if the
  /// server did. Asks `allowed` first, given the context as it then is: nothing comes in between.
  ///
  /// @throws Rejection what `allowed` refused with; then nothing was removed
  default void delete(
      ContextId context, @Nullable String principal, Consumer<ContextState> allowed) {
    inspect(
        context,
        state -> {
          allowed.accept(state);
          return true;
        });
    delete(context);
  }

  /// Contexts that have tasks which have not ended.
  List<ContextId> withOpenTasks();

  /// About `limit` contexts that changed after `mark` in the order of change, for views that catch up.
  ///
  /// Contexts that changed together are not parted, so there may be more. Knows every append that has
  /// returned.
  Changes changes(long mark, int limit);

  /// Waits for something to happen after `mark`, as [#changes] counts. False if `patience` ran out first.
  ///
  /// @throws Rejection.Unavailable if the log was closed
  boolean awaitChange(long mark, Duration patience) throws InterruptedException;

  /// Why the store cannot be written and appends are rejected; empty if it can.
  default Optional<String> outage() {
    return Optional.empty();
  }

  /// False while the store cannot be written.
  default boolean writable() {
    return outage().isEmpty();
  }

  @Override
  void close();
}
