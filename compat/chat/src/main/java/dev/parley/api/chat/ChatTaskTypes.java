package dev.parley.api.chat;

import dev.parley.task.TaskType;
import java.util.List;
import java.util.stream.Stream;

/// The types of task of the chat API, which accepts no others.
final class ChatTaskTypes {

  /// Those that no other API has.
  static final List<TaskType> ANGULAR =
      Stream.of(
              "angular_project",
              "angular_component",
              "angular_feature",
              "angular_service",
              "angular_routing",
              "angular_testing",
              "angular_optimization")
          .map(TaskType::new)
          .toList();

  static final List<String> ALL =
      Stream.concat(
              Stream.of(
                  TaskType.GENERAL,
                  TaskType.CODE_REVIEW,
                  TaskType.CODE_GENERATE,
                  TaskType.CODE_REFACTOR,
                  TaskType.CODE_DEBUG,
                  TaskType.RESEARCH,
                  TaskType.RESEARCH_WEB,
                  TaskType.RESEARCH_DOCS,
                  TaskType.DATA_ANALYSIS,
                  TaskType.DATA_TRANSFORM,
                  TaskType.DATA_VISUALIZE,
                  TaskType.CONTENT_WRITE,
                  TaskType.DOCUMENTATION),
              ANGULAR.stream())
          .map(TaskType::value)
          .toList();

  private ChatTaskTypes() {}
}
