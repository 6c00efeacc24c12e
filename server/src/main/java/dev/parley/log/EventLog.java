package dev.parley.log;

import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.EncryptionView;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Stores the events of all contexts.
///
/// Safe for use by many threads, including virtual ones. An event is durable when [#append]
/// returns: it survives a crash of the process and of the machine, and no reader has seen it
/// earlier. Each method with a context parameter throws `NotFound` if the context never existed and
/// `Gone` if it was deleted.
public interface EventLog extends AutoCloseable {

  /// Creates a context with its first event. Returns false and changes nothing if it already
  /// exists.
  ///
  /// @throws Rejection.Gone if the id belonged to a context that was deleted
  boolean create(ContextId context, ContextCreated created);

  /// Creates a context that shares the past of another. The shared entries are neither copied nor
  /// read.
  ///
  /// The fork's entries up to `forked.atSeq()` are the source's entries, under the fork's id but
  /// with the source's event ids. `forked` follows, then the ends of the tasks that were open at
  /// that point, then `more`. After that, the two contexts are independent: deleting the source
  /// removes nothing from the fork. Idempotency keys stay with the source. Returns false and
  /// changes nothing if the fork already exists.
  ///
  /// @throws Rejection.Invalid if the source has no public event `atSeq`
  /// @throws Rejection.Gone if the source was deleted, or if the id belonged to a deleted context
  boolean fork(ContextId fork, ContextForked forked, List<EventDraft> more);

  /// Creates a fork without further events.
  default boolean fork(ContextId fork, ContextForked forked) {
    return fork(fork, forked, List.of());
  }

  /// Calls `decide` with the current state of the context, and appends the events that it returns,
  /// all or none.
  ///
  /// `decide` is called under the context's lock, perhaps more than once: it must be quick, must
  /// not block, and must have no side effects. It sees the events of other appends, even those that
  /// are not durable yet. A rejection is thrown only when the events that it is based on are
  /// durable.
  ///
  /// @return the positions of the events; if `guard` is a [AppendGuard.IdempotencyKey] whose key was used before
  ///     with the same body, the positions of the earlier events
  /// @throws Rejection the one that `decide` threw; `Stale` if `guard` does not hold; `Conflict` if
  ///     an event breaks a rule of [ContextState]; `Unavailable` if the store cannot be written
  AppendResult append(ContextId context, AppendGuard appendGuard, Decision decide);

  /// Returns up to `limit` entries after `after`, oldest first, including internal ones. Empty at
  /// the end.
  List<Entry> read(ContextId context, Position after, int limit);

  /// Returns the position of the last durable event.
  Position head(ContextId context);

  /// Waits for an entry after `after`. Returns false if `patience` elapses first.
  ///
  /// @throws Rejection.Unavailable if the log is closed
  boolean await(ContextId context, Position after, Duration patience) throws InterruptedException;

  /// Calls `listener` after each change of the context, until the result is closed: new entries,
  /// the deletion of the context, and the end of the log.
  ///
  /// The listener must be quick and must not block: it runs on a thread of the log. A change that
  /// happens before this method returns may not be reported, so callers look for it afterwards.
  ChangeRegistration listen(ContextId context, Runnable listener);

  /// True if [#read] after `after` finds all entries in memory. It may have to use the store
  /// nevertheless if entries are dropped meanwhile.
  boolean inMemory(ContextId context, Position after);

  /// The registration of a listener.
  @FunctionalInterface
  interface ChangeRegistration extends AutoCloseable {

    /// Ends the registration. A call that has begun may still end later.
    @Override
    void close();
  }

  /// Applies `look` to the context's state as of its last durable event, or a later one.
  ///
  /// It is the state that `decide` would get, for reading only.
  <T> T inspect(ContextId context, Function<ContextState, T> look);

  /// Returns the owner of the context.
  String owner(ContextId context);

  /// Erases all data of the context. Returns when it is gone. The id is never used again.
  ///
  /// Appends do not wait for this. A second call for a context that is still being erased waits
  /// until the erasure is finished.
  ///
  /// @throws Rejection.Unavailable if the store cannot be written; if the context is already
  ///     deleted, its remaining data is erased later, also after a restart
  void delete(ContextId context);

  /// Erases all data of the context, and records who deleted it and when. `principal` is null if
  /// the server deleted it. `allowed` is called first, with the state at that moment: no append can
  /// come in between.
  ///
  /// @throws Rejection the one that `allowed` threw; then nothing was erased
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

  /// Returns the contexts that have open tasks.
  List<ContextId> withOpenTasks();

  /// Returns about `limit` contexts that changed after `mark`, in the order of change. Projections
  /// use it to catch up.
  ///
  /// Contexts that changed in one commit are returned together, so the result may exceed `limit`.
  /// It includes every append that has returned.
  ChangedContexts changes(long mark, int limit);

  /// Returns about how many contexts changed after `mark`, for a display of progress.
  default long countChanges(long mark) {
    return changes(mark, Integer.MAX_VALUE).contexts().size();
  }

  /// Waits for a change after `mark`, as [#changes] counts. Returns false if `patience` elapses
  /// first.
  ///
  /// @throws Rejection.Unavailable if the log is closed
  boolean awaitChange(long mark, Duration patience) throws InterruptedException;

  /// The reason why the store cannot be written and appends are rejected; empty if it can be
  /// written.
  default Optional<String> outage() {
    return Optional.empty();
  }

  /// The encryption of the stored contexts; empty if the log cannot be encrypted. Reads all contexts.
  default Optional<EncryptionView> encryption() {
    return Optional.empty();
  }

  /// Begins to wrap the keys of all contexts again, with a new wrapping key and the current version of
  /// the master key. Returns when that key exists; [#encryption] reports the progress.
  ///
  /// @throws Rejection if the log is not encrypted, a rotation is running, or the master key cannot
  ///     be used
  default void rotateKeys() {
    throw new Rejection.Invalid("encryption-off", "encryption is not configured");
  }

  /// False while the store cannot be written.
  default boolean writable() {
    return outage().isEmpty();
  }

  @Override
  void close();
}
