package dev.parley.server;

import dev.parley.protocol.Json;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import java.util.concurrent.Semaphore;
import tools.jackson.databind.node.ObjectNode;

/// A tool that computes until it is released, and ignores interrupts.
final class SpinningTool implements Tool {

  final Semaphore started = new Semaphore(0);
  volatile boolean released;

  @Override
  public String name() {
    return "spin";
  }

  @Override
  public String description() {
    return "Computes without end.";
  }

  @Override
  public ObjectNode schema() {
    return Json.object().put("type", "object");
  }

  @Override
  public Effect effect() {
    return Effect.PURE;
  }

  @Override
  public boolean concurrent() {
    return true;
  }

  @Override
  public ToolResult call(ObjectNode arguments, ToolContext context) {
    started.release();
    spin();
    return new ToolResult.Done(Json.object().put("thread", Thread.currentThread().getName()));
  }

  void spin() {
    while (!released) {
      Thread.onSpinWait();
    }
  }
}
