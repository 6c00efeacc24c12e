package dev.parley.stream;

import dev.parley.http.FrameStream;
import dev.parley.projection.ContextFeed;
import dev.parley.protocol.ContextId;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/// A stream of something that does not exist yet: waits until it exists, and then streams it.
public final class PendingStream implements FrameStream {

  private final StreamDependencies dependencies;
  private final ContextFeed contextFeed;
  private final ContextId context;
  private final Supplier<Optional<FrameStream>> lookup;

  /// Calls `lookup` when the stream starts, and again after each change of the context.
  public PendingStream(
      StreamDependencies dependencies,
      ContextFeed contextFeed,
      ContextId context,
      Supplier<Optional<FrameStream>> lookup) {
    this.dependencies = dependencies;
    this.contextFeed = contextFeed;
    this.context = context;
    this.lookup = lookup;
  }

  @Override
  public void run(FrameSink frameSink) throws IOException {
    var stream = lookup.get();
    if (stream.isEmpty()) {
      stream = await(frameSink);
    }
    if (stream.isPresent()) {
      stream.get().run(frameSink);
    }
  }

  /// Empty if the server stops.
  private Optional<FrameStream> await(FrameSink frameSink) throws IOException {
    try (var watcher = contextFeed.watch(context)) {
      var search = new Search(watcher);
      SseSubscription.run(dependencies, search, search, search, context, _ -> 0, frameSink);
      return search.found;
    }
  }

  /// Looks again after each change of the context. The cursor never changes.
  private final class Search
      implements Subscription.Source<ContextId>,
          Subscription.Encoder<ContextId, SseSink.Frames>,
          SseSink.ControlFrames<ContextId> {
    private final ContextFeed.ContextWatcher watcher;
    private Optional<FrameStream> found = Optional.empty();

    Search(ContextFeed.ContextWatcher watcher) {
      this.watcher = watcher;
    }

    /// Looks once more, because the context may have changed before the watcher was registered.
    @Override
    public ContextId start(ContextId id) {
      found = lookup.get();
      return id;
    }

    @Override
    public boolean await(ContextId id, Duration patience) throws InterruptedException {
      return watcher.await(patience);
    }

    @Override
    public Subscription.Batch<ContextId, SseSink.Frames> next(ContextId id) {
      found = lookup.get();
      return new Subscription.Batch<>(null, id);
    }

    @Override
    public boolean ended(ContextId id) {
      return found.isPresent();
    }

    @Override
    public byte[] open(ContextId id) {
      return SseFrames.empty();
    }

    @Override
    public byte[] heartbeat(ContextId id) {
      return SseFrames.heartbeat();
    }
  }
}
