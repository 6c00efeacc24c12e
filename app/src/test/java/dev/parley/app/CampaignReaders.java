package dev.parley.app;

import dev.parley.app.CampaignHistory.Reading;
import dev.parley.app.EventSourceReader.Frame;
import dev.parley.app.EventSourceReader.FrameHandler;
import dev.parley.protocol.Json;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/// Reads all contexts while a cluster has faults: through each server, through any of them, on a
/// WebSocket, and through the chat API. Thread-safe.
final class CampaignReaders implements AutoCloseable {

  private static final Set<String> ENDS = Set.of("completed", "failed", "canceled");

  private final List<URI> servers;
  private final CampaignHistory history;
  private final Consumer<JsonNode> questions;
  private final CampaignSocket socket;
  private final Map<String, List<EventSourceReader>> readers = new ConcurrentHashMap<>();
  private final Map<String, List<Frame>> chats = new ConcurrentHashMap<>();

  /// The same text once for all readers.
  private final Map<String, Map<Long, String>> texts = new ConcurrentHashMap<>();

  // Guarded by `tasks`: the tasks of each context that have not ended, and those that have.
  private final Map<String, Set<String>> tasks = new ConcurrentHashMap<>();
  private final Set<String> ended = new HashSet<>();

  CampaignReaders(
      List<URI> servers, CampaignHistory history, Consumer<JsonNode> questions, HttpClient http) {
    this.servers = servers;
    this.history = history;
    this.questions = questions;
    this.socket = new CampaignSocket(this::anyServer, history, this::shared, http);
  }

  private URI anyServer() {
    return servers.get(ThreadLocalRandom.current().nextInt(servers.size()));
  }

  /// Starts to read a context.
  void follow(String context) {
    var started = new ArrayList<EventSourceReader>();
    for (var server : servers) {
      started.add(read(context, "a reader of " + server.getPort(), () -> server, false));
    }
    started.add(read(context, "a reader of all servers", this::anyServer, true));
    chats.put(context, new ArrayList<>());
    started.add(
        new EventSourceReader(
            this::anyServer,
            "/chat/stream?conversationId=" + context,
            null,
            new ChatHandler(context)));
    readers.put(context, started);
    socket.follow(context);
  }

  private EventSourceReader read(String context, String name, Supplier<URI> from, boolean first) {
    return new EventSourceReader(
        from,
        "/api/contexts/" + context + "/stream",
        null,
        new NativeHandler(history.read(name, context), first));
  }

  /// Stops to read a context, because it is deleted.
  void abandon(String context) {
    readers.getOrDefault(context, List.of()).forEach(EventSourceReader::stop);
    chats.remove(context);
    socket.abandon(context);
    synchronized (tasks) {
      tasks.remove(context);
      tasks.notifyAll();
    }
  }

  /// The text of an event; the same object for all readers.
  private String shared(String context, long seq, String json) {
    var first =
        texts.computeIfAbsent(context, _ -> new ConcurrentHashMap<>()).putIfAbsent(seq, json);
    return json.equals(first) ? first : json;
  }

  /// A task of a context was accepted.
  void opened(String context, String task) {
    synchronized (tasks) {
      if (!ended.contains(task) && !history.isDeleted(context)) {
        tasks.computeIfAbsent(context, _ -> new HashSet<>()).add(task);
      }
    }
  }

  private void track(JsonNode event) {
    var task = event.path("taskId").asString("");
    var context = event.path("contextId").asString();
    switch (event.path("kind").asString()) {
      case "task-created" -> opened(context, task);
      case "task-status" -> {
        if (ENDS.contains(event.path("status").asString())) {
          synchronized (tasks) {
            ended.add(task);
            tasks.getOrDefault(context, new HashSet<>()).remove(task);
            tasks.notifyAll();
          }
        }
      }
      case "input-required" -> questions.accept(event);
      default -> {}
    }
  }

  int openTasks(String context) {
    synchronized (tasks) {
      return tasks.getOrDefault(context, Set.of()).size();
    }
  }

  /// Waits until all tasks have ended. Returns those that have not.
  Set<String> awaitEnds(Duration patience) throws InterruptedException {
    var deadline = System.nanoTime() + patience.toNanos();
    synchronized (tasks) {
      while (true) {
        var open = new HashSet<String>();
        tasks.values().forEach(open::addAll);
        var left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (open.isEmpty() || left <= 0) {
          return open;
        }
        tasks.wait(left);
      }
    }
  }

  /// Waits until all readers of a context have received this many events. Returns the names of those
  /// that have not.
  List<String> awaitFrames(String context, int count, Duration patience)
      throws InterruptedException {
    var deadline = System.nanoTime() + patience.toNanos();
    synchronized (history) {
      while (true) {
        var late =
            history.readings().stream()
                .filter(reading -> reading.contextId().equals(context))
                .filter(reading -> reading.frames().size() < count)
                .map(Reading::reader)
                .toList();
        var left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (late.isEmpty() || left <= 0) {
          return late;
        }
        history.wait(left);
      }
    }
  }

  /// The frames that the reader of the chat API has received.
  List<Frame> chat(String context) {
    var frames = chats.getOrDefault(context, List.of());
    synchronized (frames) {
      return List.copyOf(frames);
    }
  }

  private void add(Reading reading, String text) {
    synchronized (history) {
      reading.frames().add(text);
      history.notifyAll();
    }
  }

  /// Records the events of a context. One of its readers also tracks the tasks.
  private final class NativeHandler implements FrameHandler {
    private final Reading reading;
    private final boolean tracks;

    NativeHandler(Reading reading, boolean tracks) {
      this.reading = reading;
      this.tracks = tracks;
    }

    @Override
    public boolean take(Frame frame) {
      var event = Json.mapper().readTree(frame.data());
      switch (event.get("kind").asString()) {
        case "stream-open" -> {}
        case "stream-gap" -> {
          if (event.path("reason").asString().equals("deleted")) {
            return false;
          }
          history.violated(reading.reader() + " received " + frame);
        }
        default -> {
          add(reading, shared(reading.contextId(), event.path("seq").asLong(), frame.data()));
          if (tracks) {
            track(event);
          }
        }
      }
      return true;
    }

    @Override
    public void rejected(int status) {
      if (status != 503 && status != 429 && !history.isDeleted(reading.contextId())) {
        history.violated(reading.reader() + " was rejected with " + status);
      }
    }
  }

  private final class ChatHandler implements FrameHandler {
    private final String context;

    ChatHandler(String context) {
      this.context = context;
    }

    @Override
    public boolean take(Frame frame) {
      if ("stream_gap".equals(frame.event())) {
        if (!history.isDeleted(context)) {
          history.violated("the reader of the chat API received " + frame);
        }
        return false;
      }
      var frames = chats.getOrDefault(context, new ArrayList<>());
      synchronized (frames) {
        frames.add(frame);
      }
      return true;
    }

    @Override
    public void rejected(int status) {
      if (status != 503 && status != 429 && !history.isDeleted(context)) {
        history.violated("the reader of the chat API was rejected with " + status);
      }
    }
  }

  @Override
  public void close() {
    readers.values().forEach(some -> some.forEach(EventSourceReader::stop));
    readers.values().forEach(some -> some.forEach(EventSourceReader::close));
    socket.close();
  }
}
