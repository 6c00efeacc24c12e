package dev.parley.stream;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.time.Duration;

/// The events of one context.
public record ContextSource(EventLog log, ContextId context)
    implements Subscription.Source<Position> {

  @Override
  public Position start(Position requested) {
    var head = log.head(context);
    return requested.after(head) ? head : requested;
  }

  @Override
  public boolean await(Position position, Duration patience) throws InterruptedException {
    return log.await(context, position, patience);
  }

  @Override
  public EventLog.ChangeRegistration listen(Runnable listener) {
    return log.listen(context, listener);
  }

  /// How many events follow `position`.
  public long lag(Position position) {
    return log.head(context).seq() - position.seq();
  }
}
