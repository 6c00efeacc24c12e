package dev.parley.task;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What a run adds up to: a fold of the events it emitted. Safe for use by the run's threads.
final class Tally {

  private final Set<ArtifactId> artifacts = new LinkedHashSet<>();
  private int turns;
  private long inputTokens;
  private long outputTokens;
  private @Nullable FinishReason finish;

  synchronized void add(List<? extends Event> events) {
    for (var event : events) {
      switch (event) {
        case ArtifactEvent artifact -> artifacts.add(artifact.artifactId());
        case InternalLlmCall _ -> turns++;
        case ContentComplete complete -> finish = complete.finishReason();
        case Usage usage -> {
          inputTokens += usage.inputTokens();
          outputTokens += usage.outputTokens();
        }
        default -> {} // Does not count.
      }
    }
  }

  synchronized @Nullable List<ArtifactId> artifacts() {
    return artifacts.isEmpty() ? null : List.copyOf(artifacts);
  }

  /// The metadata of the answer; says so when the answer is empty or was cut.
  synchronized ObjectNode ofMessage(String content, long durationMillis) {
    var metadata = Json.object();
    metadata.putObject("usage").put("inputTokens", inputTokens).put("outputTokens", outputTokens);
    metadata.put("duration", durationMillis);
    if (content.isBlank()) {
      metadata.put("empty", true);
    }
    if (finish == FinishReason.LENGTH) {
      metadata.put("truncated", true);
    }
    return metadata;
  }

  synchronized ObjectNode ofTask(long durationMillis) {
    return Json.object()
        .put("duration", durationMillis)
        .put("iterations", turns)
        .put("tokensUsed", inputTokens + outputTokens);
  }
}
