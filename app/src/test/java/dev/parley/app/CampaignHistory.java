package dev.parley.app;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import tools.jackson.databind.JsonNode;

/// Everything that clients of a cluster saw and did, and the log as it is in the end. Thread-safe,
/// except the list of frames of a reading, which belongs to its reader.
final class CampaignHistory {

  /// A message or an answer that a server has acknowledged.
  record Acknowledgement(String kind, String contextId, String id, long seq) {}

  /// The events of a context that one reader received, in their order, as JSON.
  record Reading(String reader, String contextId, List<String> frames) {}

  /// A fork that a server has acknowledged.
  record AcknowledgedFork(String contextId, String sourceId) {}

  private final Queue<Acknowledgement> acknowledgements = new ConcurrentLinkedQueue<>();
  private final Queue<Reading> readings = new ConcurrentLinkedQueue<>();
  private final Queue<AcknowledgedFork> forks = new ConcurrentLinkedQueue<>();
  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  private final Set<String> contexts = ConcurrentHashMap.newKeySet();
  private final Set<String> deleted = ConcurrentHashMap.newKeySet();
  private final Map<String, Integer> effects = new ConcurrentHashMap<>();
  private final Map<String, List<JsonNode>> logs = new ConcurrentHashMap<>();

  void acknowledged(Acknowledgement acknowledgement) {
    acknowledgements.add(acknowledgement);
  }

  void created(String contextId) {
    contexts.add(contextId);
  }

  void forked(AcknowledgedFork fork) {
    forks.add(fork);
    contexts.add(fork.contextId());
  }

  /// The deletion of a context was requested: it may be gone.
  void deleting(String contextId) {
    deleted.add(contextId);
  }

  Reading read(String reader, String contextId) {
    var reading = new Reading(reader, contextId, new ArrayList<>());
    readings.add(reading);
    return reading;
  }

  /// A tool has had its effect, for the call with this key.
  void effect(String key) {
    effects.merge(key, 1, Integer::sum);
  }

  /// Something was seen that must never happen.
  void violated(String violation) {
    violations.add(violation);
  }

  /// The log of a context in the end.
  void log(String contextId, List<JsonNode> events) {
    logs.put(contextId, List.copyOf(events));
  }

  List<Acknowledgement> acknowledgements() {
    return List.copyOf(acknowledgements);
  }

  List<Reading> readings() {
    return List.copyOf(readings);
  }

  List<AcknowledgedFork> forks() {
    return List.copyOf(forks);
  }

  List<String> violations() {
    return List.copyOf(violations);
  }

  /// The contexts that were created and not deleted.
  List<String> contexts() {
    return contexts.stream().filter(context -> !deleted.contains(context)).sorted().toList();
  }

  boolean isDeleted(String contextId) {
    return deleted.contains(contextId);
  }

  /// How often the effect of each call was seen.
  Map<String, Integer> effects() {
    return Map.copyOf(effects);
  }

  Map<String, List<JsonNode>> logs() {
    return Map.copyOf(logs);
  }
}
