// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

// Tokens and recipients of the tests. Compiled once, with solc 0.8.37 (optimizer on, 200 runs, EVM version paris), into contracts.json.

contract Token {
    mapping(address => uint256) public balanceOf;
    uint8 public immutable decimals = 6;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(uint256 supply) {
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    // Two transfers to the same recipient in one transaction, and another one in front of them.
    function transferThrice(address other, address to, uint256 value) external {
        _move(msg.sender, other, value);
        _move(msg.sender, to, value);
        _move(msg.sender, to, value);
    }

    function _move(address from, address to, uint256 value) internal {
        require(balanceOf[from] >= value, "too little");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

// Says no with a return value, like early tokens.
contract FalseToken is Token {
    constructor(uint256 supply) Token(supply) {}

    function transfer(address, uint256) external pure override returns (bool) {
        return false;
    }
}

// Keeps a hundredth of what is transferred.
contract FeeToken is Token {
    constructor(uint256 supply) Token(supply) {}

    function transfer(address to, uint256 value) external override returns (bool) {
        uint256 fee = value / 100;
        _move(msg.sender, to, value - fee);
        _move(msg.sender, address(this), fee);
        return true;
    }
}

// Refuses coins.
contract Refuser {
    receive() external payable {
        revert("no");
    }
}

// Takes coins, and writes: a plain transfer has too little gas for it.
contract Till {
    uint256 public count;

    receive() external payable {
        count += 1;
    }
}

// Sends coins from a contract, some of them in a call that reverts.
contract Sender {
    function send(address payable to) external payable {
        (bool sent, ) = to.call{value: msg.value / 2}("");
        (bool again, ) = to.call{value: msg.value / 4}("");
        require(sent && again);
        try this.sendAndFail{value: msg.value / 8}(to) {} catch {}
    }

    function sendAndFail(address payable to) external payable {
        (bool sent, ) = to.call{value: msg.value}("");
        require(!sent, "undone");
    }
}
