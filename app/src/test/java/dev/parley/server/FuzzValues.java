package dev.parley.server;

import dev.parley.protocol.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// Values that fit a schema, and changes that make them invalid or surprising.
final class FuzzValues {

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final int DEPTH_MAX = 5;

  /// Messages that make agents do something that needs no program and no network.
  private static final List<String> PHRASES =
      List.of(
          "say hello",
          "count to 3",
          "ask me which colour?",
          "think about it",
          "calculate 1/0",
          "list files",
          "write text to notes.txt",
          "read notes.txt",
          "delegate say hi to agent-code",
          "sign in to api.example.org",
          "use open_page {\"path\": \"/help\"}",
          "use ask_user {\"question\":\"?\",\"schema\":{\"type\":\"integer\",\"maximum\":3}}",
          "use read_file {\"path\":\"../../etc/passwd\"}");

  private static final List<String> STRINGS =
      List.of(
          "",
          " ",
          "\u0000",
          "\r\nX-Injected: 1",
          "..",
          "../../etc/passwd",
          "a/b",
          "%2e%2e%2f",
          "\u202e\u2066",
          "\ud800",
          "\ufeff",
          "💥".repeat(50),
          "é".repeat(129),
          "'; DROP TABLE contexts; --",
          "\" OR \"\"=\"",
          "${jndi:ldap://127.0.0.1/x}",
          "{{7*7}}",
          "<script>alert(1)</script>",
          "*",
          "%",
          "_",
          "nobody",
          "null",
          "true",
          "NaN",
          "-1",
          "1e999",
          "9223372036854775808",
          "0x10",
          "2026-13-45T99:99:99Z",
          "1969-12-31T23:59:59Z",
          "http://127.0.0.1:1/",
          "http://[::1",
          "file:///etc/passwd",
          "data:text/plain;base64,====",
          "a".repeat(129),
          "x".repeat(5_000),
          "*?".repeat(40) + "Z",
          "(a+)+$");

  private static final List<String> CURSORS =
      List.of(
          "0",
          "1",
          "5",
          "-1",
          "1.1",
          "3.0",
          "99999999",
          "9223372036854775807",
          "1~1",
          "25~1",
          "x",
          "latest",
          "",
          "MQ",
          "eyJhIjoxfQ",
          "0.0.0",
          "1,2");

  private static final Set<String> NEEDED =
      Set.of("content", "message", "prompt", "role", "value", "text", "title", "toSeq", "parts");

  private static final List<String> ASSETS = List.of("page.js", "icon.svg", "..%2findex.html");

  private static final List<Number> NUMBERS =
      List.of(
          0,
          1,
          2,
          10,
          -1,
          1_000,
          1_001,
          Integer.MAX_VALUE,
          Integer.MIN_VALUE,
          Long.MAX_VALUE,
          Long.MIN_VALUE,
          0.5,
          1e308,
          -0.0);

  private final RandomGenerator random;
  private final FuzzIds ids;
  private final boolean plausible;
  private final Map<String, String> record;

  /// Values for a request whose path has these variables.
  FuzzValues(RandomGenerator random, FuzzIds ids, List<String> variables) {
    this.random = random;
    this.ids = ids;
    this.plausible = random.nextBoolean();
    this.record = ids.record(variables, random);
  }

  /// True if the request is meant to succeed, so that later ones find something to work on.
  boolean plausible() {
    return plausible;
  }

  /// True once in `times`, but never for a request that is meant to succeed.
  boolean wrongOnce(int times) {
    return once(times) && !plausible;
  }

  /// True if something that may be missing is there.
  boolean present() {
    return once(plausible ? 8 : 2);
  }

  /// True once in `times`.
  boolean once(int times) {
    return random.nextInt(times) == 0;
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  /// A text for a field, parameter or variable of this name.
  String text(String name) {
    return switch (plausible ? -1 : random.nextInt(12)) {
      case 0 -> any(STRINGS);
      case 1 -> any(CURSORS);
      case 2 -> any(PHRASES);
      case 3 -> ids.pick(name, random);
      default -> usual(name);
    };
  }

  /// A text for a variable of a path.
  String variable(String name) {
    return switch (plausible ? -1 : random.nextInt(8)) {
      case 0 -> any(STRINGS);
      case 1 -> ids.pick("any", random);
      default -> ids.pick(name, record, random);
    };
  }

  private String usual(String name) {
    return switch (name) {
      case "content", "prompt", "text", "message", "task", "question" -> any(PHRASES);
      case "after", "cursor", "since", "position", "from", "Last-Event-ID" ->
          plausible ? "1" : any(CURSORS);
      case "limit", "pageSize", "offset", "historyLength", "window" ->
          plausible ? "5" : any(NUMBERS).toString();
      case "agentId" -> any(List.of("agent-code", "supervisor", "agent-writer"));
      case "role" -> "user";
      case "EIO" -> "4";
      case "transport" -> "polling";
      case "timeout", "timeoutMs" -> "60000";
      case "name" -> any(ASSETS);
      case "A2A-Extensions", "X-A2A-Extensions", "Idempotency-Key" -> "key-" + random.nextInt(20);
      case "kinds", "exclude" -> "task-created,content-delta,message";
      case "verbosity" -> any(List.of("all", "normal", "quiet", "full"));
      case "format" -> any(List.of("workflow", "parley", "json"));
      case "internal", "force", "rerun", "partial" -> any(List.of("true", "false"));
      case "A2A-Version" -> any(List.of("1.0", "0.3", "2.0", ""));
      default -> ids.pick(name, record, random);
    };
  }

  /// A value that fits the schema, with values of the usual kinds.
  JsonNode fitting(String name, JsonNode schema, int depth) {
    if (schema.has("enum")) {
      return schema.get("enum").get(random.nextInt(schema.get("enum").size()));
    }
    var type = schema.path("type");
    return switch (type.isArray() ? type.get(0).asString() : type.asString("")) {
      case "string" -> NODES.stringNode(text(name));
      case "integer" ->
          NODES.numberNode(plausible ? 1 + random.nextInt(9) : any(NUMBERS).longValue() % 2_000);
      case "number" -> NODES.numberNode(any(NUMBERS).doubleValue());
      case "boolean" -> NODES.booleanNode(random.nextBoolean());
      case "array" -> {
        var array = NODES.arrayNode();
        for (var i = random.nextInt(3); i >= 0 && depth < DEPTH_MAX; i--) {
          array.add(fitting(name, schema.path("items"), depth + 1));
        }
        yield array;
      }
      case "object" -> object(schema, depth);
      default -> value(depth);
    };
  }

  private ObjectNode object(JsonNode schema, int depth) {
    var object = Json.object();
    var required = schema.path("required").valueStream().map(JsonNode::asString).toList();
    for (var property : schema.path("properties").properties()) {
      if (depth < DEPTH_MAX
          && (required.contains(property.getKey()) || expected(property.getKey()))) {
        object.set(property.getKey(), fitting(property.getKey(), property.getValue(), depth + 1));
      }
    }
    if (!schema.has("properties") && once(2)) {
      object.set("key", value(depth + 1));
    }
    return object;
  }

  /// True if an optional field is there: those that most requests need usually are.
  private boolean expected(String name) {
    return present() || (NEEDED.contains(name) && !wrongOnce(2));
  }

  /// A value of any type.
  JsonNode value(int depth) {
    return switch (random.nextInt(depth < DEPTH_MAX ? 9 : 6)) {
      case 0 -> NODES.nullNode();
      case 1 -> NODES.booleanNode(random.nextBoolean());
      case 2 -> NODES.numberNode(any(NUMBERS).longValue());
      case 3 -> NODES.numberNode(any(NUMBERS).doubleValue());
      case 4, 5 -> NODES.stringNode(text("content"));
      case 6 -> NODES.arrayNode().add(value(depth + 1)).add(value(depth + 1));
      case 7 -> Json.object().set("approved", value(depth + 1));
      default -> Json.object().set(any(STRINGS), value(depth + 1));
    };
  }

  /// Changes one node of a document in place.
  void change(JsonNode document) {
    var containers = new ArrayList<JsonNode>();
    containers(document, containers);
    if (containers.isEmpty()) {
      return;
    }
    switch (any(containers)) {
      case ObjectNode object -> change(object);
      case ArrayNode array -> {
        if (array.isEmpty() || once(3)) {
          array.add(value(1));
        } else {
          array.set(random.nextInt(array.size()), value(1));
        }
      }
      default -> throw new IllegalStateException("not a container");
    }
  }

  private void change(ObjectNode object) {
    var names = List.copyOf(object.propertyNames());
    if (names.isEmpty() || once(6)) {
      object.set(once(2) ? any(STRINGS) : "unknown", value(1));
    } else if (once(4)) {
      object.remove(any(names));
    } else {
      object.set(any(names), once(20) ? deep() : value(0));
    }
  }

  private static JsonNode deep() {
    JsonNode node = Json.object();
    for (var i = 0; i < 200; i++) {
      node = Json.object().set("a", node);
    }
    return node;
  }

  private static void containers(JsonNode node, List<JsonNode> found) {
    if (node.isContainer()) {
      found.add(node);
      node.forEach(child -> containers(child, found));
    }
  }

  /// Changes bytes so that they may no longer be JSON, UTF-8 or complete.
  byte[] garble(byte[] bytes) {
    var at = bytes.length == 0 ? 0 : random.nextInt(bytes.length);
    var garbled = new ByteArrayOutputStream();
    switch (random.nextInt(5)) {
      case 0 -> garbled.writeBytes(Arrays.copyOf(bytes, at));
      case 1 -> {
        garbled.writeBytes(Arrays.copyOf(bytes, at));
        garbled.write(random.nextInt(256));
        garbled.writeBytes(Arrays.copyOfRange(bytes, at, bytes.length));
      }
      case 2 -> {
        var changed = bytes.clone();
        if (changed.length > 0) {
          changed[at] ^= (byte) (1 << random.nextInt(8));
        }
        garbled.writeBytes(changed);
      }
      case 3 -> {
        garbled.writeBytes(bytes);
        garbled.writeBytes(bytes);
      }
      default ->
          garbled.writeBytes("[".repeat(random.nextInt(3_000)).getBytes(StandardCharsets.US_ASCII));
    }
    return garbled.toByteArray();
  }

  /// Bytes of a length that a limit may be at.
  byte[] large() {
    var bytes = new byte[any(List.of(1 << 16, (1 << 20) - 1, 1 << 20, (1 << 20) + 1))];
    Arrays.fill(bytes, (byte) ' ');
    return bytes;
  }
}
