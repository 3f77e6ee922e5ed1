// RecurrentLoop and RecurrentLoopGrad.

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/pool_threads.h"
#include "tensorflow/core/recurrent/loop.h"
#include "tensorflow/core/recurrent/program.h"
#include "tensorflow/core/sparse/isa.h"

namespace tensorflow {
namespace {

namespace recurrent = deeprec::recurrent;

absl::Status WrongShape(const std::string& name, const Tensor& got, const std::string& expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must be of shape ", expected, ", got ", got.shape().DebugString()));
}

std::string Numbered(const char* name, int i) { return absl::StrCat(name, "[", i, "]"); }

// That tensors of a list are [leading..., width] each.
absl::Status CheckList(const char* name, const OpInputList& list, const std::vector<int64_t>& leading,
                       const std::vector<int64_t>& widths) {
  for (int i = 0; i < list.size(); ++i) {
    TensorShape expected(leading);
    expected.AddDim(widths[i]);
    if (list[i].shape() != expected) return WrongShape(Numbered(name, i), list[i], expected.DebugString());
  }
  return absl::OkStatus();
}

std::vector<const float*> Pointers(const OpInputList& list) {
  std::vector<const float*> pointers;
  for (int i = 0; i < list.size(); ++i) pointers.push_back(list[i].flat<float>().data());
  return pointers;
}

// Outputs of the shapes of the tensors of `like`.
absl::Status AllocateLike(OpKernelContext* ctx, const char* name, const OpInputList& like, std::vector<float*>* pointers) {
  OpOutputList list;
  TF_RETURN_IF_ERROR(ctx->output_list(name, &list));
  for (int i = 0; i < list.size(); ++i) {
    Tensor* tensor = nullptr;
    TF_RETURN_IF_ERROR(list.allocate(i, like[i].shape(), &tensor));
    pointers->push_back(tensor->flat<float>().data());
  }
  return absl::OkStatus();
}

class RecurrentBase : public OpKernel {
 public:
  explicit RecurrentBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<int64_t> program, outputs, new_states;
    std::vector<float> scalars;
    int inputs, captures, states, output_count, lengths;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("program", &program));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("scalars", &scalars));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_values", &outputs));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("new_state_values", &new_states));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("N", &inputs));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("S", &states));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("C", &captures));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("K", &output_count));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("L", &lengths));
    const std::string wrong = program_.Parse(program, scalars, outputs, new_states, inputs, captures);
    OP_REQUIRES(ctx, wrong.empty(), absl::InvalidArgumentError(absl::StrCat("program is wrong: ", wrong)));
    OP_REQUIRES(ctx, static_cast<int>(new_states.size()) == states && static_cast<int>(outputs.size()) == output_count,
                absl::InvalidArgumentError(absl::StrCat("expected ", states, " new_state_values and ", output_count,
                                                        " output_values, got ", new_states.size(), " and ", outputs.size())));
    OP_REQUIRES(ctx, lengths <= 1, absl::InvalidArgumentError(absl::StrCat("sequence_length must be one tensor or none, got ", lengths)));
    for (const int output : program_.outputs) output_widths_.push_back(program_.values[output].width);
  }

  void Compute(OpKernelContext* ctx) override {
    try {
      OP_REQUIRES_OK(ctx, Run(ctx));
    } catch (const std::bad_alloc&) {
      ctx->CtxFailure(absl::ResourceExhaustedError("no memory for the time steps of a recurrent loop"));
    }
  }

 protected:
  virtual absl::Status Run(OpKernelContext* ctx) = 0;

  absl::Status Read(OpKernelContext* ctx, recurrent::LoopArguments* arguments) const {
    OpInputList inputs, states, captures, lengths;
    TF_RETURN_IF_ERROR(ctx->input_list("inputs", &inputs));
    TF_RETURN_IF_ERROR(ctx->input_list("initial_states", &states));
    TF_RETURN_IF_ERROR(ctx->input_list("captures", &captures));
    TF_RETURN_IF_ERROR(ctx->input_list("sequence_length", &lengths));
    if (inputs[0].dims() != 3) return WrongShape("inputs[0]", inputs[0], "[steps, batch, width]");
    const int64_t steps = inputs[0].dim_size(0), batch = inputs[0].dim_size(1);
    TF_RETURN_IF_ERROR(CheckList("inputs", inputs, {steps, batch}, program_.input_widths));
    TF_RETURN_IF_ERROR(CheckList("initial_states", states, {batch}, program_.state_widths));
    for (int i = 0; i < captures.size(); ++i) {
      const recurrent::Capture& capture = program_.captures[i];
      TensorShape expected({capture.columns});
      if (capture.rows > 0) expected.InsertDim(0, capture.rows);
      if (captures[i].shape() != expected) return WrongShape(Numbered("captures", i), captures[i], expected.DebugString());
    }
    arguments->program = &program_;
    arguments->steps = steps;
    arguments->batch = batch;
    arguments->lengths.assign(batch, steps);
    if (lengths.size() > 0) {
      if (lengths[0].shape() != TensorShape({batch})) return WrongShape("sequence_length", lengths[0], absl::StrCat("[", batch, "]"));
      const auto length = lengths[0].vec<int32>();
      for (int64_t i = 0; i < batch; ++i) arguments->lengths[i] = std::clamp<int64_t>(length(i), 0, steps);
    }
    arguments->inputs = Pointers(inputs);
    arguments->states = Pointers(states);
    arguments->captures = Pointers(captures);
    return absl::OkStatus();
  }

  static const recurrent::KernelTable& Table() { return recurrent::BlockKernels(deeprec::sparse::ActiveIsa().isa); }

  recurrent::Program program_;
  std::vector<int64_t> output_widths_;
};

class RecurrentLoopOp : public RecurrentBase {
 public:
  using RecurrentBase::RecurrentBase;

 private:
  absl::Status Run(OpKernelContext* ctx) override {
    recurrent::LoopArguments arguments;
    TF_RETURN_IF_ERROR(Read(ctx, &arguments));
    recurrent::LoopResults results;
    OpOutputList outputs;
    OpInputList states;
    TF_RETURN_IF_ERROR(ctx->output_list("outputs", &outputs));
    TF_RETURN_IF_ERROR(ctx->input_list("initial_states", &states));
    for (int i = 0; i < outputs.size(); ++i) {
      Tensor* tensor = nullptr;
      TF_RETURN_IF_ERROR(outputs.allocate(i, TensorShape({arguments.steps, arguments.batch, output_widths_[i]}), &tensor));
      results.outputs.push_back(tensor->flat<float>().data());
    }
    TF_RETURN_IF_ERROR(AllocateLike(ctx, "new_states", states, &results.new_states));
    recurrent::RunLoop(arguments, results, Table(), PoolThreads(ctx));
    return absl::OkStatus();
  }
};

class RecurrentLoopGradOp : public RecurrentBase {
 public:
  using RecurrentBase::RecurrentBase;

 private:
  absl::Status Run(OpKernelContext* ctx) override {
    recurrent::LoopArguments arguments;
    TF_RETURN_IF_ERROR(Read(ctx, &arguments));
    OpInputList inputs, states, captures, output_grads, state_grads;
    TF_RETURN_IF_ERROR(ctx->input_list("inputs", &inputs));
    TF_RETURN_IF_ERROR(ctx->input_list("initial_states", &states));
    TF_RETURN_IF_ERROR(ctx->input_list("captures", &captures));
    TF_RETURN_IF_ERROR(ctx->input_list("outputs_grad", &output_grads));
    TF_RETURN_IF_ERROR(ctx->input_list("new_states_grad", &state_grads));
    TF_RETURN_IF_ERROR(CheckList("outputs_grad", output_grads, {arguments.steps, arguments.batch}, output_widths_));
    TF_RETURN_IF_ERROR(CheckList("new_states_grad", state_grads, {arguments.batch}, program_.state_widths));
    recurrent::LoopGradients gradients;
    gradients.outputs = Pointers(output_grads);
    gradients.new_states = Pointers(state_grads);
    TF_RETURN_IF_ERROR(AllocateLike(ctx, "inputs_grad", inputs, &gradients.inputs));
    TF_RETURN_IF_ERROR(AllocateLike(ctx, "initial_states_grad", states, &gradients.states));
    TF_RETURN_IF_ERROR(AllocateLike(ctx, "captures_grad", captures, &gradients.captures));
    recurrent::RunLoopGradient(arguments, gradients, Table(), PoolThreads(ctx));
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("RecurrentLoop").Device(DEVICE_CPU), RecurrentLoopOp);
REGISTER_KERNEL_BUILDER(Name("RecurrentLoopGrad").Device(DEVICE_CPU), RecurrentLoopGradOp);

}  // namespace
}  // namespace tensorflow
