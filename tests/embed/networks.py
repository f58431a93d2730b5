"""Networks made here, as a program: `python -m tests.embed.networks quantize|look_up FROM TO`; see `networks.lock`."""

import sys

import numpy as np


def quantize(source: str, to: str) -> None:
    """Turn the weights of a network into whole numbers, small enough for processors without instructions for them."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(source, to, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)


def look_up(source: str, to: str) -> None:
    """Write a network that gives each token its row of a table."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    table = np.load(source)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["rows"], ["last_hidden_state"], to=TensorProto.FLOAT),
    ]
    shape = ["batch", "tokens"]
    given = helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape)
    made = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, table.shape[1]])
    graph = helper.make_graph(nodes, "look-up", [given], [made], [numpy_helper.from_array(table, "table")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), to)


if __name__ == "__main__":
    {"quantize": quantize, "look_up": look_up}[sys.argv[1]](*sys.argv[2:])
