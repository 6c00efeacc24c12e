package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.Sha256;
import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Calls every operation of every API with wrong identities and the ids of another person.
///
/// The operations come from the routes of the server (`/openapi.json`), so a new route is covered. No
/// reply may contain content of that person, and each reply must be the one for an unknown id. With
/// `-Dparley.long=true`, there are at least 100,000 requests.
class WrongIdentityTest {

  private static final int REQUESTS = 100_000;
  private static final String CANARY = "canary-5d1f7b";
  private static final String ADMIN = "token-of-the-administrator";
  private static final String PLAIN = "token-of-a-program";

  /// Operations whose second call has another result than the first one, for reasons of their own, or
  /// that end the caller's own credential.
  private static final Pattern NOT_REPEATABLE =
      Pattern.compile("POST /api/(?:keys|groups|tenants|invitations|tickets|logout)");

  private static final Pattern CHANGING =
      Pattern.compile(
          "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z"
              + "|parley_[a-z]+_[A-Za-z0-9_-]+|\\b\\d{10,}\\b|\"(?:uptime|createdAt)\":[^,}]*");

  @TempDir Path folder;
  private TestServer server;
  private String agent = "";
  private int requests;

  /// Ids of the other person, and ids of nothing, in the same shapes.
  private record Ids(
      ContextId context, TaskId task, MessageId message, InputId input, ArtifactId artifact) {

    static Ids of(String context, String name) {
      return new Ids(
          new ContextId(context),
          new TaskId(name + "-task"),
          new MessageId(name + "-message"),
          new InputId(name + "-input"),
          new ArtifactId(name + "-artifact"));
    }

    List<String> all() {
      return List.of(
          context.value(), task.value(), message.value(), input.value(), artifact.value());
    }

    /// Replaces all ids, so that replies can be compared.
    String normalize(String text) {
      var same = text;
      for (var id : all()) {
        same = same.replace(id, "ID");
      }
      return CHANGING.matcher(same).replaceAll("X");
    }
  }

  private static final Ids FOREIGN = Ids.of("3f0c1a7e-52d1-4b7e-9d0e-6a1b2c3d4e5f", "foreign");
  private static final Ids UNKNOWN = Ids.of("70b2d9c4-81aa-4c1f-8e3d-0f9e8d7c6b5a", "unknown");
  private static final Ids FOREIGN_NAMED = Ids.of("victim.notes", "victims");
  private static final Ids UNKNOWN_NAMED = Ids.of("victim.other", "nobodys");

  /// One operation, and its body's schema.
  private record Operation(
      String method, String path, List<String> queries, @Nullable JsonNode schema) {

    boolean takesId() {
      return path.contains("{") || schema != null || method.equals("POST");
    }
  }

  private record Answered(int status, String body) {}

  @Test
  void no_wrong_identity_gets_content_or_learns_that_something_exists() {
    var yaml =
        """
        limits: {anonymousRequestsPerMinute: 1000000}
        isolation: {level: none}
        untrusted: {effects: allow}
        auth:
          required: true
          tokens:
            - {name: admin, administer: true, sha256: %s}
            - {name: plain, sha256: %s}
        """
            .formatted(hash(ADMIN), hash(PLAIN));
    var longRun = Boolean.getBoolean("parley.long");
    try (var started = TestServer.configured(folder, yaml)) {
      server = started;
      agent =
          json(get("/api/agent-types", ADMIN))
              .path("items")
              .path(0)
              .path("id")
              .asString("researcher");
      post("/api/tenants", "{\"name\":\"acme\"}", ADMIN);
      var victim = person("victim", "");
      write(FOREIGN);
      write(FOREIGN_NAMED);
      var operations = operations();
      assertThat(operations).hasSizeGreaterThan(100);
      assertThat(readable(operations, victim)).isGreaterThan(20);
      var before = log();
      var identities = identities();
      var random = new Random(19);
      for (var round = 0; round == 0 || (longRun && requests < REQUESTS); round++) {
        for (var identity : identities.entrySet()) {
          for (var operation : operations) {
            compare(operation, identity, random, round);
          }
        }
      }
      assertThat(log()).isEqualTo(before);
      assertThat(get("/api/contexts/" + FOREIGN.context(), victim).body()).contains(CANARY);
      System.out.println("wrong identities: " + requests + " requests");
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    assertThat(requests).isGreaterThan(longRun ? REQUESTS : 2_000);
  }

  private static String hash(String text) {
    return HexFormat.of().formatHex(Sha256.of(text));
  }

  /// The context of the other person, with the canary in everything that people write.
  private void write(Ids ids) {
    server.log.create(
        ids.context(),
        new ContextCreated("victim", CANARY + " title", Json.object().put("k", CANARY)));
    var root = Origin.root(ids.task(), new AgentTypeId(agent));
    var owner = "victim";
    server.log.append(
        ids.context(),
        AppendGuard.none(),
        _ ->
            List.of(
                EventDraft.of(
                    new Message(ids.message(), Role.USER, CANARY + " message", null, null, owner)),
                new EventDraft(
                    root,
                    new TaskCreated(
                        Initiator.USER, null, ids.message(), CANARY, null, null, null, null)),
                new EventDraft(root, new TaskStatus(TaskState.WORKING, CANARY, null)),
                EventDraft.of(
                    new DataWrite(
                        ids.artifact(),
                        CANARY,
                        null,
                        Json.object().put("secret", CANARY),
                        null,
                        1,
                        owner)),
                new EventDraft(
                    root,
                    new InputRequired(
                        ids.input(),
                        true,
                        InputType.CLARIFICATION,
                        CANARY + "?",
                        null,
                        null,
                        null,
                        null))));
  }

  private String log() {
    return server.log.head(FOREIGN.context()) + " " + server.log.head(FOREIGN_NAMED.context());
  }

  /// The wrong identities, with what they send.
  private Map<String, @Nullable String> identities() {
    var identities = new LinkedHashMap<String, @Nullable String>();
    identities.put("nobody", null);
    identities.put("unknown key", "parley_key_unknown");
    identities.put("configured token", PLAIN);
    identities.put("configured administrator", ADMIN);
    var other = person("other", "");
    identities.put("person", other);
    identities.put("viewer", person("viewer", ",\"roles\":[\"viewer\"]"));
    identities.put("approver", person("approver", ",\"roles\":[\"member\",\"approver\"]"));
    identities.put("operator", person("operator", ",\"roles\":[\"operator\",\"member\"]"));
    identities.put(
        "owner of a tenant",
        person("boss", ",\"tenant\":\"acme\",\"roles\":[\"owner\",\"member\"]"));
    identities.put("key", key(ADMIN, "{\"name\":\"ci\",\"principal\":\"ci\"}"));
    identities.put("reading key", key(other, "{\"name\":\"reader\",\"scopes\":[\"read\"]}"));
    identities.put(
        "key for a foreign context",
        key(other, "{\"name\":\"limited\",\"contexts\":[\"" + FOREIGN.context() + "\"]}"));
    var own = json(post("/api/contexts", "{}", other)).path("contextId").asString();
    identities.put(
        "link",
        json(post("/api/contexts/" + own + "/shares", "{\"link\":true}", other))
            .path("secret")
            .asString());
    var revoked = key(other, "{\"name\":\"revoked\"}");
    assertThat(send("DELETE", "/api/keys/revoked", null, other).status()).isEqualTo(204);
    identities.put("revoked key", revoked);
    return identities;
  }

  private String person(String name, String more) {
    var url =
        json(post("/api/invitations", "{\"name\":\"" + name + "\"" + more + "}", ADMIN))
            .path("url")
            .asString();
    var request =
        server
            .request("/invite")
            .POST(BodyPublishers.ofString(url.substring(url.indexOf("token="))));
    var cookie = server.send(request).headers().firstValue("Set-Cookie").orElseThrow();
    return cookie.substring("parley_token=".length(), cookie.indexOf(';'));
  }

  private String key(String creator, String body) {
    return json(post("/api/keys", body, creator)).path("secret").asString();
  }

  private List<Operation> operations() {
    var document = json(get("/openapi.json", ADMIN));
    var operations = new ArrayList<Operation>();
    for (var path : document.path("paths").properties()) {
      for (var method : path.getValue().properties()) {
        var queries = new ArrayList<String>();
        for (var parameter : method.getValue().path("parameters")) {
          if (parameter.path("in").asString().equals("query")) {
            queries.add(parameter.path("name").asString());
          }
        }
        var body = method.getValue().at("/requestBody/content/application~1json/schema");
        operations.add(
            new Operation(
                method.getKey().toUpperCase(Locale.ROOT),
                path.getKey(),
                queries,
                body.isMissingNode()
                    ? null
                    : document
                        .path("components")
                        .path("schemas")
                        .path(body.path("$ref").asString().replaceFirst(".*/", ""))));
      }
    }
    return operations;
  }

  /// How many operations show the owner the canary: proves that the requests find something.
  private int readable(List<Operation> operations, String owner) {
    var found = 0;
    for (var operation : operations) {
      if (operation.method().equals("GET")
          && call(operation, owner, FOREIGN, new Random(1), 0).body().contains(CANARY)) {
        found++;
      }
    }
    return found;
  }

  private void compare(
      Operation operation, Map.Entry<String, @Nullable String> identity, Random random, int round) {
    if (operation.path().equals("/api/logout")) {
      return;
    }
    var administers =
        identity.getKey().equals("configured administrator")
            || identity.getKey().equals("operator");
    if (administers && operation.path().startsWith("/api/people")) {
      return;
    }
    var inBody = operation.schema() != null || operation.method().equals("POST");
    // Ids in a body can be those of new contexts. Random ones may be chosen, so only names tell.
    var named = (inBody && !operation.path().contains("{c}")) || random.nextBoolean();
    var seed = random.nextInt();
    var foreign =
        call(
            operation,
            identity.getValue(),
            named ? FOREIGN_NAMED : FOREIGN,
            new Random(seed),
            round);
    var what = identity.getKey() + " " + operation.method() + " " + operation.path();
    assertThat(foreign.body()).as(what).doesNotContain(CANARY);
    assertThat(foreign.status()).as(what + ": " + foreign.body()).isNotEqualTo(500);
    // A token of the configuration may choose any id: it creates what is unknown.
    if (identity.getKey().startsWith("configured") && !operation.method().equals("GET")) {
      return;
    }
    var unknown =
        call(
            operation,
            identity.getValue(),
            named ? UNKNOWN_NAMED : UNKNOWN,
            new Random(seed),
            round);
    if (comparable(operation, foreign, unknown)) {
      assertThat(normalized(foreign, named ? FOREIGN_NAMED : FOREIGN))
          .as(what)
          .isEqualTo(normalized(unknown, named ? UNKNOWN_NAMED : UNKNOWN));
    }
  }

  private static boolean comparable(Operation operation, Answered foreign, Answered unknown) {
    return operation.takesId()
        && !NOT_REPEATABLE.matcher(operation.method() + " " + operation.path()).lookingAt()
        && foreign.status() != 429
        && unknown.status() != 429;
  }

  private static String normalized(Answered answered, Ids ids) {
    return answered.status() + " " + ids.normalize(answered.body());
  }

  private Answered call(
      Operation operation, @Nullable String token, Ids ids, Random random, int round) {
    var path = operation.path();
    for (var variable : variables(path)) {
      path = path.replace("{" + variable + "}", value(variable, ids, random, round));
    }
    var query = new ArrayList<String>();
    for (var name : operation.queries()) {
      var isId = name.toLowerCase(Locale.ROOT).endsWith("id");
      if (isId && !name.equals("user_id") && !name.equals("sid")) {
        query.add(name + "=" + (name.startsWith("task") ? ids.task() : ids.context()));
      } else if (round > 0 && random.nextInt(4) == 0) {
        query.add(name + "=" + List.of("1", "true", "x", "0").get(random.nextInt(4)));
      }
    }
    var target = query.isEmpty() ? path : path + "?" + String.join("&", query);
    return send(operation.method(), target, body(operation, ids, random), token);
  }

  private static List<String> variables(String path) {
    return Pattern.compile("\\{(\\w+)}").matcher(path).results().map(m -> m.group(1)).toList();
  }

  private String value(String variable, Ids ids, Random random, int round) {
    var usual =
        switch (variable) {
          case "c", "threadId" -> ids.context().value();
          case "t", "task", "id" -> ids.task().value();
          case "m" -> ids.message().value();
          case "i" -> ids.input().value();
          case "a" -> ids.artifact().value();
          case "agent", "agentTypeId", "name" -> agent;
          case "ns", "namespace", "tenant" -> "default";
          default -> ids.all().get(random.nextInt(ids.all().size()));
        };
    return round > 0 && random.nextInt(8) == 0
        ? ids.all().get(random.nextInt(ids.all().size()))
        : usual;
  }

  private @Nullable String body(Operation operation, Ids ids, Random random) {
    if (operation.method().equals("GET")) {
      return null;
    }
    if (operation.schema() != null) {
      return example(operation.schema(), ids, random, 0).toString();
    }
    if (!operation.method().equals("POST")) {
      return null;
    }
    var message =
        Json.object()
            .put("messageId", "m-1")
            .put("role", "user")
            .put("contextId", ids.context().value());
    message.putArray("parts").addObject().put("kind", "text").put("text", "hello");
    if (random.nextBoolean()) {
      message.put("taskId", ids.task().value());
    }
    if (operation.path().contains("message")) {
      return Json.object().set("message", message).toString();
    }
    var call = Json.object().put("jsonrpc", "2.0").put("id", 1);
    var params = Json.object();
    switch (random.nextInt(4)) {
      case 0 -> {
        call.put("method", "tasks/get");
        params.put("id", ids.task().value());
      }
      case 1 -> {
        call.put("method", "tasks/cancel");
        params.put("id", ids.task().value());
      }
      case 2 -> {
        call.put("method", "tasks/pushNotificationConfig/list");
        params.put("id", ids.task().value());
      }
      default -> {
        call.put("method", "message/send");
        params.set("message", message);
      }
    }
    return call.set("params", params).toString();
  }

  /// A value that the schema permits, with ids wherever a name asks for one.
  private JsonNode example(JsonNode schema, Ids ids, Random random, int depth) {
    var object = Json.object();
    for (var property : schema.path("properties").properties()) {
      var name = property.getKey();
      var type = property.getValue();
      var kind = type.path("type").isArray() ? type.path("type").path(0) : type.path("type");
      switch (kind.asString("")) {
        case "string" -> putText(object, name, type, ids, random);
        case "object" -> {
          if (depth < 3) {
            object.set(name, example(type, ids, random, depth + 1));
          }
        }
        default -> {} // Left out: it may be optional, and otherwise the reply is 400 for all ids.
      }
    }
    return object;
  }

  private void putText(ObjectNode object, String name, JsonNode type, Ids ids, Random random) {
    if (type.has("enum")) {
      object.put(name, type.path("enum").path(0).asString());
    } else if (name.equals("role")) {
      object.put(name, "user");
    } else if (name.equals("agentId") || name.equals("type")) {
      object.put(name, agent);
    } else if (name.toLowerCase(Locale.ROOT).startsWith("task") && name.endsWith("d")) {
      object.put(name, ids.task().value());
    } else if (name.endsWith("Id") || name.endsWith("_id") || name.equals("id")) {
      object.put(name, ids.context().value());
    } else if (name.equals("content") || name.equals("prompt") || random.nextInt(4) == 0) {
      object.put(name, "hello");
    }
  }

  private Answered get(String path, @Nullable String token) {
    return send("GET", path, null, token);
  }

  private Answered post(String path, String body, @Nullable String token) {
    return send("POST", path, body, token);
  }

  private static JsonNode json(Answered answered) {
    assertThat(answered.status()).as(answered.body()).isBetween(200, 299);
    return Json.mapper().readTree(answered.body());
  }

  private Answered send(String method, String path, @Nullable String body, @Nullable String token) {
    requests++;
    var request = server.request(path).header("Content-Type", "application/json");
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    request.method(
        method, body == null ? HttpRequest.BodyPublishers.noBody() : BodyPublishers.ofString(body));
    try {
      var reply = server.http.send(request.build(), BodyHandlers.ofInputStream());
      try (var in = reply.body()) {
        var type = reply.headers().firstValue("Content-Type").orElse("");
        // A stream does not end; the tests of feeds and streams read them.
        var text =
            type.startsWith("text/event-stream")
                ? "a stream"
                : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        return new Answered(reply.statusCode(), text);
      }
    } catch (IOException failed) {
      throw new AssertionError(method + " " + path, failed);
    } catch (InterruptedException told) {
      throw new AssertionError(told);
    }
  }
}
