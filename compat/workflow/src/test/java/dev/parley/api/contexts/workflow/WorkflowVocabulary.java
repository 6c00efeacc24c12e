package dev.parley.api.contexts.workflow;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

/// The names of WORKFLOW-25, and the fields of the record of each.
final class WorkflowVocabulary {

  static final String DIAGNOSTIC = "workflow.diagnostic.";

  static final Map<String, Class<? extends WorkflowEvent>> RECORDS =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("workflow.input.received", WorkflowEvent.InputReceived.class),
              Map.entry("workflow.lifecycle.updated", WorkflowEvent.LifecycleUpdated.class),
              Map.entry("workflow.node.started", WorkflowEvent.NodeStarted.class),
              Map.entry("workflow.node.completed", WorkflowEvent.NodeCompleted.class),
              Map.entry("workflow.node.failed", WorkflowEvent.NodeFailed.class),
              Map.entry("workflow.node.output.delta", WorkflowEvent.NodeOutputDelta.class),
              Map.entry("workflow.node.output.summary", WorkflowEvent.NodeOutputSummary.class),
              Map.entry("workflow.tool.started", WorkflowEvent.ToolStarted.class),
              Map.entry("workflow.tool.progress", WorkflowEvent.ToolProgressed.class),
              Map.entry("workflow.tool.completed", WorkflowEvent.ToolCompleted.class),
              Map.entry("workflow.subflow.progress", WorkflowEvent.SubflowProgress.class),
              Map.entry("workflow.subflow.completed", WorkflowEvent.SubflowCompleted.class),
              Map.entry("workflow.result.final", WorkflowEvent.ResultFinal.class),
              Map.entry("workflow.result.cancelled", WorkflowEvent.ResultCancelled.class),
              Map.entry("workflow.artifact.manifest", WorkflowEvent.ArtifactManifest.class),
              Map.entry(DIAGNOSTIC + "*", WorkflowEvent.Diagnostic.class)));

  private WorkflowVocabulary() {}

  /// All fields of an event with this name, in order. Fails for an unknown name.
  static List<String> fields(String name) {
    var known = name.startsWith(DIAGNOSTIC) ? DIAGNOSTIC + "*" : name;
    var record = Objects.requireNonNull(RECORDS.get(known), name);
    return Stream.concat(names(WorkflowEnvelope.class), names(record)).toList();
  }

  static Stream<String> names(Class<?> record) {
    return Arrays.stream(record.getRecordComponents())
        .map(part -> part.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT));
  }
}
