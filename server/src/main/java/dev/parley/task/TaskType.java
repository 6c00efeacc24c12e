package dev.parley.task;

import dev.parley.protocol.WireName;
import java.util.Locale;

/// The kind of work of a task; a closed list.
public enum TaskType implements WireName {
  GENERAL,
  CODE_REVIEW,
  CODE_GENERATE,
  CODE_REFACTOR,
  CODE_DEBUG,
  RESEARCH,
  RESEARCH_WEB,
  RESEARCH_DOCS,
  DATA_ANALYSIS,
  DATA_TRANSFORM,
  DATA_VISUALIZE,
  CONTENT_WRITE,
  DOCUMENTATION,
  ANGULAR_PROJECT,
  ANGULAR_COMPONENT,
  ANGULAR_FEATURE,
  ANGULAR_SERVICE,
  ANGULAR_ROUTING,
  ANGULAR_TESTING,
  ANGULAR_OPTIMIZATION;

  @Override
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }
}
