package dev.parley.server;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ApiModule;
import dev.parley.app.ProgramModules;
import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.HttpLimits;
import dev.parley.http.HttpSettings;
import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Origin;
import dev.parley.runtime.ClockTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import dev.parley.task.Tasks;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/// A real server on a free port, for tests, with its log in reach.
final class TestServer implements AutoCloseable {

  /// All modules, as the program has them.
  static final Extensions MODULES = ProgramModules.ALL;

  final EventLog log;
  final Server server;

  /// What the APIs of this server share.
  final ApiDependencies api;

  final Tasks tasks;
  final URI url;
  final HttpClient http = HttpClient.newHttpClient();

  private TestServer(Config config, Function<ServerFactory, Server.ServerDependencies> parts) {
    this(config, parts, Server.ServerSources.real());
  }

  private TestServer(
      Config config,
      Function<ServerFactory, Server.ServerDependencies> parts,
      Server.ServerSources serverSources) {
    var shared = new AtomicReference<ApiDependencies>();
    ApiModule probe =
        apiDependencies -> {
          shared.set(apiDependencies);
          return new ApiModule.ApiParts(List.of(), List.of());
        };
    var extensions = MODULES.withApi(probe);
    var built = parts.apply(new ServerFactory(config, serverSources, extensions));
    log = built.log();
    tasks = built.tasks();
    server = Server.start(config, extensions, built, serverSources);
    api = shared.get();
    url = URI.create(server.url());
  }

  /// What a test may want to be different.
  record Wish(Duration heartbeat, List<ApiToken> tokens, Set<String> origins, HttpLimits limits) {
    static final Wish USUAL =
        new Wish(Duration.ofSeconds(15), List.of(), Set.of(), HttpLimits.DEFAULTS);

    Wish heartbeat(Duration interval) {
      return new Wish(interval, tokens, origins, limits);
    }

    Wish tokens(ApiToken... some) {
      return new Wish(heartbeat, List.of(some), origins, limits);
    }

    Wish origins(String... some) {
      return new Wish(heartbeat, tokens, Set.of(some), limits);
    }

    Wish limits(HttpLimits other) {
      return new Wish(heartbeat, tokens, origins, other);
    }
  }

  static TestServer open(Path folder) {
    return open(folder, Wish.USUAL);
  }

  /// A site whose log is in memory: for many appends, one by one.
  static TestServer open(Path folder, Wish wish) {
    return new TestServer(
        config(folder, wish), serverFactory -> serverFactory.createOn(new MemoryLog()));
  }

  /// One whose log is seen through something of a test's own.
  static TestServer open(Path folder, UnaryOperator<EventLog> seen) {
    var log = new MemoryLog();
    return new TestServer(
        config(folder, Wish.USUAL), serverFactory -> serverFactory.createOn(seen.apply(log)));
  }

  /// The same, configured like this, with the time of the test.
  static TestServer open(Path folder, String yaml, Time time, UnaryOperator<EventLog> seen) {
    var log = new MemoryLog();
    var config = configured(config(folder, yaml), folder, Wish.USUAL);
    return new TestServer(
        config,
        serverFactory -> serverFactory.createOn(seen.apply(log)),
        new Server.ServerSources(time, new SystemThreads(), UUID::randomUUID));
  }

  /// A site that keeps what it is told.
  static TestServer durable(Path folder, Wish wish) {
    return new TestServer(config(folder, wish), ServerFactory::create);
  }

  /// One that keeps what it is told, and is configured like this.
  static TestServer durable(Path folder, Wish wish, String yaml) {
    return new TestServer(configured(config(folder, yaml), folder, wish), ServerFactory::create);
  }

  /// The same at whatever time this says.
  static TestServer durable(Path folder, String yaml, InstantSource clock) {
    return durable(folder, yaml, new ClockTime(clock), new SystemThreads());
  }

  /// The same with time and threads of the test.
  static TestServer durable(Path folder, String yaml, Time time, Threads threads) {
    var config = configured(config(folder, yaml), folder, Wish.USUAL);
    return new TestServer(
        config, ServerFactory::create, new Server.ServerSources(time, threads, UUID::randomUUID));
  }

  /// One that keeps what it is told, with tokens or limits, and with time and threads of the test.
  static TestServer durable(Path folder, Wish wish, String yaml, Time time, Threads threads) {
    return new TestServer(
        configured(config(folder, yaml), folder, wish),
        ServerFactory::create,
        new Server.ServerSources(time, threads, UUID::randomUUID));
  }

  /// A site that was started in the folder `where`, configured like this, with its data in `data`.
  static TestServer startedIn(Path where, Path data, String yaml) throws IOException {
    var config = config(where, yaml).listeningOn("127.0.0.1", 0).keepingDataIn(data);
    Files.createDirectories(data);
    return new TestServer(config, ServerFactory::create);
  }

  private static Config config(Path folder, String yaml) {
    try {
      var file = Files.writeString(Files.createTempFile("parley", ".yaml"), yaml);
      var config =
          Config.load(file, new Config.ProcessEnvironment(Map.of(), folder, folder), MODULES);
      Files.delete(file);
      return config;
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
  }

  /// A site as this configuration wants it, but on a free port and with its data in `folder`.
  static TestServer configured(Path folder, String yaml) throws IOException {
    return configured(folder, yaml, 0);
  }

  /// The same at whatever time this says.
  static TestServer configured(Path folder, String yaml, Time time) {
    var config =
        config(folder, yaml).listeningOn("127.0.0.1", 0).keepingDataIn(folder.resolve("data"));
    return new TestServer(
        config,
        ServerFactory::create,
        new Server.ServerSources(time, new SystemThreads(), UUID::randomUUID));
  }

  /// The same on this port, where another one was before.
  static TestServer configured(Path folder, String yaml, int port) throws IOException {
    var file = Files.writeString(folder.resolve("parley.yaml"), yaml);
    var environment = Map.of("PATH", System.getenv("PATH"));
    var config =
        Config.load(file, new Config.ProcessEnvironment(environment, folder, folder), MODULES)
            .listeningOn("127.0.0.1", port)
            .keepingDataIn(folder.resolve("data"));
    return new TestServer(config, ServerFactory::create);
  }

  private static Config config(Path folder, Wish wish) {
    return configured(config(folder), folder, wish);
  }

  private static Config configured(Config config, Path folder, Wish wish) {
    var data = folder.resolve("data");
    data.toFile().mkdirs();
    var httpSettings =
        new HttpSettings(
            "127.0.0.1",
            0,
            Set.of(),
            wish.origins(),
            wish.tokens(),
            wish.heartbeat(),
            wish.limits());
    return config.with(httpSettings).keepingDataIn(data);
  }

  static Config config(Path folder) {
    return Config.load(null, new Config.ProcessEnvironment(Map.of(), folder, folder), MODULES);
  }

  /// A context that exists.
  ContextId context(String name) {
    var context = new ContextId(name);
    log.create(context, new ContextCreated("local", null, null));
    return context;
  }

  void append(ContextId context, Event event) {
    log.append(context, AppendGuard.none(), Decision.always(EventDraft.of(event)));
  }

  void append(ContextId context, Origin origin, Event event) {
    log.append(context, AppendGuard.none(), Decision.always(new EventDraft(origin, event)));
  }

  HttpResponse<String> get(String path, String... headers) {
    return send(request(path, headers).GET());
  }

  HttpResponse<String> post(String path, String body, String... headers) {
    return send(
        request(path, headers)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body)));
  }

  HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return http.send(request.build(), BodyHandlers.ofString());
    } catch (IOException failed) {
      throw new AssertionError(failed);
    } catch (InterruptedException told) {
      throw new AssertionError(told);
    }
  }

  HttpRequest.Builder request(String path, String... headers) {
    var request = HttpRequest.newBuilder(url.resolve(path)).timeout(Duration.ofSeconds(30));
    return headers.length == 0 ? request : request.headers(headers);
  }

  /// Sends bytes as they are and returns all that comes back until the server closes.
  String raw(String request) throws IOException {
    try (var socket = connect()) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      socket.getOutputStream().flush();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  Socket connect() throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), url.getPort());
    socket.setSoTimeout(20_000);
    return socket;
  }

  EventReader stream(String path, String... headers) throws IOException {
    return EventReader.open(this, "GET " + path, "", headers);
  }

  /// Waits until this many streams are open.
  void awaitStreams(int count) {
    var streams = api.streamDependencies().streams();
    try {
      streams.awaitCount(count, Duration.ofSeconds(60));
    } catch (InterruptedException told) {
      throw new AssertionError(told);
    }
    if (streams.count() != count) {
      throw new AssertionError(streams.count() + " streams are open instead of " + count);
    }
  }

  @Override
  public void close() {
    http.close();
    server.close();
  }
}
