package dev.parley.server;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import tools.jackson.databind.JsonNode;

/// The ids and cursors that a fuzzer has seen in replies, by the name of their field.
final class FuzzIds {

  private static final int KEPT_MAX = 32;
  private static final int LENGTH_MAX = 400;

  /// What variables of paths and fields of other protocols are called in replies.
  private static final Map<String, List<String>> NAMES =
      Map.ofEntries(
          Map.entry("c", List.of("contextId", "conversationId", "threadId", "sessionId")),
          Map.entry("context_id", List.of("contextId")),
          Map.entry("session_id", List.of("sessionId", "contextId")),
          Map.entry("t", List.of("taskId")),
          Map.entry("task", List.of("taskId")),
          Map.entry("task_id", List.of("taskId")),
          Map.entry("i", List.of("inputId")),
          Map.entry("a", List.of("authId", "artifactId")),
          Map.entry("m", List.of("messageId")),
          Map.entry("call", List.of("toolCallId")),
          Map.entry("agentTypeId", List.of("agentType")),
          Map.entry("agent", List.of("agentType")),
          Map.entry("type", List.of("agentType")),
          Map.entry("cursor", List.of("nextCursor", "position", "pageToken")),
          Map.entry("pageToken", List.of("nextPageToken")),
          Map.entry("after", List.of("seq", "position", "nextAfter")),
          Map.entry("since", List.of("seq")));

  private static final Set<String> COLLECTED =
      Set.of("nextCursor", "position", "seq", "nextAfter", "nextPageToken", "hash", "sid", "key");

  private final Map<String, List<String>> known = new TreeMap<>();
  private final Map<Set<String>, List<Map<String, String>>> records = new LinkedHashMap<>();

  FuzzIds() {
    for (var i = 0; i < 8; i++) {
      add("contextId", "f" + i);
    }
    for (var agent : List.of("agent-code", "supervisor")) {
      add("agentType", agent);
    }
  }

  /// Remembers the ids of a reply, and which of them belong together.
  void collect(JsonNode reply) {
    collect(reply, Map.of());
  }

  /// `outer` has the ids of the objects that contain this one.
  private void collect(JsonNode node, Map<String, String> outer) {
    var record = new TreeMap<>(outer);
    for (var field : node.properties()) {
      var name = field.getKey();
      var value = field.getValue();
      if (value.isValueNode() && isId(name) && value.asString("").length() <= LENGTH_MAX) {
        record.put(camelCase(name), value.asString(""));
        add(camelCase(name), value.asString(""));
      }
    }
    if (record.size() > outer.size()) {
      add(record);
    }
    node.forEach(child -> collect(child, record));
  }

  private synchronized void add(Map<String, String> record) {
    var same = records.computeIfAbsent(Set.copyOf(record.keySet()), _ -> new ArrayList<>());
    if (same.size() == KEPT_MAX) {
      same.removeFirst();
    }
    same.add(Map.copyOf(record));
  }

  /// Ids that belong together, such as those of a context and of a task in it: for all of these
  /// variables, if there are any.
  synchronized Map<String, String> record(List<String> variables, RandomGenerator random) {
    var kinds = records.keySet().stream().filter(kind -> has(kind, variables)).toList();
    if (kinds.isEmpty()) {
      return Map.of();
    }
    var kind = records.get(kinds.get(random.nextInt(kinds.size())));
    return kind.get(random.nextInt(kind.size()));
  }

  private static boolean has(Set<String> kind, List<String> variables) {
    return variables.stream().allMatch(name -> names(name).stream().anyMatch(kind::contains));
  }

  private static boolean isId(String name) {
    return name.equals("id")
        || name.endsWith("Id")
        || name.endsWith("_id")
        || COLLECTED.contains(name);
  }

  private static String camelCase(String name) {
    return name.endsWith("_id") ? name.substring(0, name.length() - 3) + "Id" : name;
  }

  /// Adds a context that requests may use or create.
  void addContext(String name) {
    add("contextId", name);
  }

  private synchronized void add(String name, String value) {
    if (value.isEmpty()) {
      return;
    }
    var values = known.computeIfAbsent(name, _ -> new ArrayList<>());
    if (values.contains(value)) {
      return;
    }
    if (values.size() == KEPT_MAX) {
      values.removeFirst();
    }
    values.add(value);
  }

  /// An id for a field or variable of this name: that of the record, or another one of its kind.
  String pick(String name, Map<String, String> record, RandomGenerator random) {
    for (var each : names(name)) {
      if (record.containsKey(each)) {
        return record.get(each);
      }
    }
    return pick(name, random);
  }

  /// An id for a field or variable of this name: one of its kind, or any if there is none.
  synchronized String pick(String name, RandomGenerator random) {
    var names = new ArrayList<>(names(name));
    names.removeIf(each -> !known.containsKey(each));
    if (names.isEmpty()) {
      names.addAll(known.keySet());
    }
    var values = known.get(names.get(random.nextInt(names.size())));
    return values.get(random.nextInt(values.size()));
  }

  private static List<String> names(String name) {
    var names = new ArrayList<>(NAMES.getOrDefault(name, List.of()));
    names.add(name);
    return names;
  }
}
