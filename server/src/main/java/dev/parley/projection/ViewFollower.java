package dev.parley.projection;

import dev.parley.log.EventLog;
import dev.parley.projection.ContextFeed.FeedCursor;
import java.nio.file.Path;
import java.time.Duration;

/// Keeps the views of a server up to date that does not write the log, so that they are nearly
/// complete when it takes over. It answers no queries.
public final class ViewFollower implements AutoCloseable {

  private final ViewThread thread;
  private final ContextFeed contextFeed;
  private final ViewRefresher refresher;

  /// Opens the views in `file`, and updates them from the sealed part of the log until it is closed.
  public ViewFollower(Path file, EventLog sealed, ViewsRuntime runtime) {
    thread = ViewThread.forFile(file, runtime);
    contextFeed = new ContextFeed(sealed, thread, runtime.time());
    var catchUp =
        new ViewCatchUp(
            sealed, thread, new ViewUpdater(sealed, thread), contextFeed, runtime.time());
    refresher = new ViewRefresher(catchUp, thread, contextFeed, runtime);
  }

  /// Waits until the views have processed the log up to this mark. False if `patience` elapses
  /// first.
  boolean await(long mark, Duration patience) throws InterruptedException {
    return contextFeed.await(new FeedCursor(mark - 1, Integer.MAX_VALUE), patience);
  }

  @Override
  public void close() {
    refresher.close();
    thread.close();
  }
}
