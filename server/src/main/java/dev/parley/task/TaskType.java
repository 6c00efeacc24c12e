package dev.parley.task;

import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;

/// The kind of work of a task, such as `code_review`: an identifier that agents list as one of
/// theirs. Any identifier is valid; the constants are those that the default agents list.
public record TaskType(String value) {

  public static final TaskType GENERAL = new TaskType("general");
  public static final TaskType CODE_REVIEW = new TaskType("code_review");
  public static final TaskType CODE_GENERATE = new TaskType("code_generate");
  public static final TaskType CODE_REFACTOR = new TaskType("code_refactor");
  public static final TaskType CODE_DEBUG = new TaskType("code_debug");
  public static final TaskType RESEARCH = new TaskType("research");
  public static final TaskType RESEARCH_WEB = new TaskType("research_web");
  public static final TaskType RESEARCH_DOCS = new TaskType("research_docs");
  public static final TaskType DATA_ANALYSIS = new TaskType("data_analysis");
  public static final TaskType DATA_TRANSFORM = new TaskType("data_transform");
  public static final TaskType DATA_VISUALIZE = new TaskType("data_visualize");
  public static final TaskType CONTENT_WRITE = new TaskType("content_write");
  public static final TaskType DOCUMENTATION = new TaskType("documentation");

  public TaskType {
    if (!Id.valid(value)) {
      throw new Rejection.Invalid(
          "taskType must be 1 to " + Id.LENGTH_MAX + " characters of A-Z a-z 0-9 . _ : -");
    }
  }

  @Override
  public String toString() {
    return value;
  }
}
