package dev.parley.stream;

import dev.parley.log.EventLog;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The streams of one source that one delivery thread serves, with one registration for all of them.
/// For many threads.
final class StreamGroup {

  final Subscription.Source<?> source;
  private final Consumer<StreamGroup> deliver;
  private final Set<LiveStream> streams = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean queued = new AtomicBoolean();
  private volatile EventLog.@Nullable ChangeRegistration registration;

  /// @param deliver lets the delivery thread call [#takeChanged] soon
  StreamGroup(Subscription.Source<?> source, Consumer<StreamGroup> deliver) {
    this.source = source;
    this.deliver = deliver;
  }

  Set<LiveStream> streams() {
    return streams;
  }

  /// Makes sure that changes of the source are reported to this group. False if the source reports
  /// no changes.
  boolean register() {
    if (registration == null) {
      var added = source.listen(this::changed);
      if (added == null) {
        return false;
      }
      if (!keep(added)) {
        added.close();
      }
    }
    return true;
  }

  private synchronized boolean keep(EventLog.ChangeRegistration added) {
    if (registration != null) {
      return false;
    }
    registration = added;
    return true;
  }

  /// Ends the registration of a group that has no streams any more.
  void close() {
    var ending = registration;
    if (ending != null) {
      ending.close();
    }
  }

  private void changed() {
    if (queued.compareAndSet(false, true)) {
      deliver.accept(this);
    }
  }

  /// The streams that have not looked for events since the last change. From now on, the group is
  /// queued again after a change, so that no change is lost.
  Set<LiveStream> takeChanged() {
    queued.set(false);
    return streams;
  }
}
